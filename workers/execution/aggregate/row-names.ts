// Columns that are made of rows, each named by a cell of its row: gathers the names, and puts them in the place of the cells
// once they are known, so that each is the only one.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import type { Column } from '../../batch/schema.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Operator, OperatorContext } from '../../operations/operation.ts';
import { headerNames } from '../../plan/file-columns.ts';
import { DONE, type Slices } from '../../run/time-slices.ts';
import { textOfValue } from '../cells/text-of-value.ts';

/** UTF-16 units of all names: more is no header, and they are held as texts. */
const NAMES_UNITS_MAX = 1024 * 1024;

export interface NamedRows {
  /** The column whose cells name them. */
  readonly header: Column;
  /** Rows at most. */
  readonly rowsMax: number;
}

/** Is told of each row, and hands none on. */
export class RowNames implements Operator {
  readonly #named: NamedRows;
  readonly #context: OperatorContext;
  readonly #reader: CellReader;
  readonly #texts: string[] = [];
  #rows = 0;
  #units = 0;

  constructor(named: NamedRows, context: OperatorContext) {
    this.#named = named;
    this.#context = context;
    this.#reader = new CellReader(named.header.type, context.indexOf(named.header));
  }

  push(batch: Batch): Slices {
    this.#rows += batch.live;
    for (let position = 0; position < batch.live && !this.#isTooMuch(); position++) {
      this.#reader.bind(batch);
      const text = textOfValue(this.#reader.read(batch.physicalRow(position)));
      this.#units += text.length;
      if (this.#units <= NAMES_UNITS_MAX) this.#texts.push(text);
    }
    return DONE;
  }

  finish(): Slices {
    const { errors } = this.#context;
    if (this.#rows > this.#named.rowsMax) errors.failCheck(tooManyRows(this.#named.rowsMax));
    else if (this.#isTooMuch()) {
      const name = JSON.stringify(this.#named.header.name);
      errors.failCheck(`the cells of ${name} that would name columns have more than ${NAMES_UNITS_MAX} characters.`);
    }
    return DONE;
  }

  /** As headers of a file: blank ones are called by their places, equal ones told apart by a number. */
  rowNames(): readonly string[] | null {
    if (this.#isTooMuch()) return null;
    const [first, ...others] = this.#context.output.map(({ name }) => name);
    return headerNames([first!, ...this.#texts], others).slice(1);
  }

  #isTooMuch(): boolean {
    return this.#rows > this.#named.rowsMax || this.#units > NAMES_UNITS_MAX;
  }
}

export function tooManyRows(rowsMax: number): string {
  return `there are more than ${rowsMax} rows to be turned ("max_rows").`;
}

/** Gives the rows their names, in their order, in the place of the cells of `header`. */
export function withRowNames(
  header: Column,
  names: readonly string[],
  context: OperatorContext,
): (batch: Batch) => Batch {
  const { heap } = context.arena;
  const index = context.indexOf(header);
  const texts = names.map((name) => placed(name, context));
  let rows = 0;
  return (batch) => {
    const at = batch.arena.take(batch.rows * VIEW_BYTES);
    for (let position = 0; position < batch.live; position++) {
      const text = texts[rows++];
      if (text === undefined) throw new Error('there are more rows than have named columns');
      heap.u32.set(text, (at + batch.physicalRow(position) * VIEW_BYTES) >>> 2);
    }
    const column: ColumnData = { kind: 'views', at };
    return batch.withColumns(batch.columns.map((other, place) => (place === index ? column : other)));
  };
}

/** Address and length of a text that stays for the Run. */
function placed(name: string, { arena: { heap } }: OperatorContext): readonly [number, number] {
  const bytes = Buffer.from(name);
  const at = heap.allocate(bytes.length);
  heap.u8.set(bytes, at);
  return [at, bytes.length];
}
