// The kernels' one entry: what is exported here is what workers/kernel/kernel.ts calls.
export function version(): i32 {
  return 1;
}
