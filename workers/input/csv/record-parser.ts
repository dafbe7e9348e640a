// Splits bytes into records with csv-parse, for dialects that the kernels do not read. The only importer of csv-parse.
// It is driven step by step, not as a stream, so that a reader can ask for rows synchronously.
import { Parser } from 'csv-parse';

export interface ParsedRecord {
  readonly fields: readonly string[];
  /** Bytes fed up to the end of its line break. */
  readonly end: number;
}

export class RecordParser {
  #records: ParsedRecord[] = [];
  readonly #parser: SteppedParser;

  /** @param quote '' for none */
  constructor(delimiter: string, quote: string) {
    this.#parser = new SteppedParser(delimiter, quote, (fields, end) => this.#records.push({ fields, end }));
  }

  /** The parser keeps the last bytes: they must not change afterwards. */
  feed(bytes: Buffer): void {
    this.#parser._transform(bytes, 'utf8', throwFault);
  }

  /** Nothing will follow. False when a quoted field is still open. */
  finish(): boolean {
    let closed = true;
    this.#parser._flush((error) => {
      if (error === null || error === undefined) return;
      if ((error as { code?: string }).code !== 'CSV_QUOTE_NOT_CLOSED') throw error;
      closed = false;
    });
    return closed;
  }

  /** The records made since the last call. */
  take(): ParsedRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }
}

class SteppedParser extends Parser {
  readonly #take: (fields: readonly string[], end: number) => void;

  constructor(delimiter: string, quote: string, take: (fields: readonly string[], end: number) => void) {
    super({
      delimiter,
      quote: quote === '' ? null : quote,
      escape: quote === '' ? null : quote,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
    });
    this.#take = take;
  }

  /** Where the stream would queue a record. */
  override push(fields: readonly string[] | null): boolean {
    if (fields !== null) this.#take(fields, this.info.bytes);
    return true;
  }
}

function throwFault(error?: Error | null): void {
  if (error !== null && error !== undefined) throw error;
}
