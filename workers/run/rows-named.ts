// Ends a try of a Run in which only the last row could tell which columns there are.

/** Thrown out of such a try: the next one knows the names. Neither failure nor fault. */
export class RowsNamed extends Error {
  /** See Operator.rowNames. */
  readonly names: readonly string[];

  constructor(names: readonly string[]) {
    super('rows named');
    this.name = 'RowsNamed';
    this.names = names;
  }
}
