// Signatures of the kernels that write rows to the output (assembly/emit-csv.ts, emit-json.ts). All values are addresses or counts.

/**
 * Writes the rows at positions [from, to) of a selection to [out, limit), as far as they fit, and gives the number of rows
 * written. Up to 16 bytes behind `limit` are overwritten. The program says where the last row ends.
 */
export type EmitRows = (
  program: number,
  selection: number,
  from: number,
  to: number,
  out: number,
  limit: number,
) => number;

export interface EmitKernels {
  readonly emitCsv: EmitRows;
  readonly emitJson: EmitRows;
}
