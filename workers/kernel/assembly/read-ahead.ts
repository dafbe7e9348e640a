// Entry point of a second, smaller module for memory that threads share: of a Run and its read-ahead thread
// (workers/input/read-ahead), and of the threads that process parts of one file (workers/batch/ordered-parts.ts,
// workers/execution/sort/sorted-parts.ts).
export { gatherFinished, listFinished, packedBytes, sortFinished } from './encoded-rows';
export { addPrints, movePrints, touchPrints } from './keys';
export { readJson } from './read-json';
export { scan } from './scan';
export { decodeSingleBytes } from './single-byte';
