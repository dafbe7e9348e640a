// The value of a cell of text that a file knows for something else: its canonical text and its native kind. Only who moves
// cells as values sees it (the stored type `text_with_kind`); cells that are texts are strings there too.

export class NativeText {
  readonly text: string;
  /** One of kernel/layout/native-kinds.ts, but for that of texts. */
  readonly kind: number;

  constructor(text: string, kind: number) {
    this.text = text;
    this.kind = kind;
  }

  toString(): string {
    return this.text;
  }
}
