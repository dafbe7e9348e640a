// The kernels of the CSV fast lane as TypeScript sees them. Addresses are absolute, counts are u32; states are u32 slots
// that the kernel's AssemblyScript file lists.

export interface InputKernels {
  scan(state: number, end: number, limit: number, delimiter: number, quote: number): void;
  rowsAreUniform(structurals: number, rows: number, columns: number): number;
  indexRows(structurals: number, before: number, rows: number, columns: number, table: number): number;
  indexRaggedRows(
    state: number,
    end: number,
    rowsMax: number,
    columns: number,
    columnsMax: number,
    table: number,
    events: number,
    rules: number,
    quote: number,
  ): void;
  findNullTexts(table: number, rows: number, columns: number, quote: number, texts: number, marks: number): void;
  materialise(
    state: number,
    entries: number,
    step: number,
    selection: number,
    live: number,
    views: number,
    limit: number,
    quote: number,
    emptyIsNull: number,
    texts: number,
  ): void;
}
