// The entry of a second, small module: what a scout needs, over a memory that two threads share (workers/input/scout).
export { scan } from './scan';
