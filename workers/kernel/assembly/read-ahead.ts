// Entry point of a second, smaller module for read-ahead threads, which work in memory shared between two threads
// (workers/input/read-ahead).
export { readJson } from './read-json';
export { scan } from './scan';
export { decodeSingleBytes } from './single-byte';
