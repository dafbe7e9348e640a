// The entry of a second, small module: what a read-ahead thread needs, over a memory that two threads share (workers/input/read-ahead).
export { readJson } from './read-json';
export { scan } from './scan';
export { decodeSingleBytes } from './single-byte';
