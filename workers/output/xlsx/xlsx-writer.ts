// The writer of workbooks: the frame's parts, and between them the rows of one sheet or of several, by the kernel; rows that
// it leaves are the plain twin's. States: within a sheet, finished.
import type { Batch } from '../../batch/batch.ts';
import { sheetCell } from '../../kernel/plain/emit-sheet.ts';
import type { Slices } from '../../run/time-slices.ts';
import { OutputBuffer, type RowEmitter } from '../sink/output-buffer.ts';
import type { RowWriter, WriterTools } from '../writer.ts';
import { Deflater } from './deflater.ts';
import { sheetContent } from './sheet-content.ts';
import { sheetName } from './sheet-limits.ts';
import { SheetProgram, type SheetSource, sheetSource } from './sheet-program.ts';
import type { WorkbookPart } from './workbook-frame.ts';
import type { XlsxForm } from './xlsx-form.ts';
import { ZipFile } from './zip-file.ts';

/** Beside the deflater's block of the same size: together they are what other formats have as one buffer. */
const BUFFER_BYTES = 262_144;

export class XlsxWriter implements RowWriter, RowEmitter {
  /** Texts are text cells, whatever they begin with. */
  readonly formulasGuarded = 0;
  /** Rows hold their numbers, which a sort does not know ahead. */
  readonly ahead = null;
  readonly #form: XlsxForm;
  readonly #tools: WriterTools;
  readonly #rowsMax: number;
  readonly #program: SheetProgram;
  readonly #buffer: OutputBuffer;
  readonly #zip: ZipFile;
  readonly #sheetNames: string[] = [];
  /** Of the batch that is being written. */
  #batch: Batch | null = null;
  #sources: readonly SheetSource[] = [];

  /** @param rowsMax rows of a sheet, with the header */
  constructor(form: XlsxForm, rowsMax: number, tools: WriterTools) {
    const { heap, kernel, clock, sink, bufferBytes = BUFFER_BYTES } = tools;
    this.#form = form;
    this.#tools = tools;
    this.#rowsMax = rowsMax;
    this.#program = new SheetProgram(heap, form.columns);
    const zip = new ZipFile(sink, new Deflater(heap, kernel));
    this.#zip = zip;
    const rows = {
      write: (bytes: Uint8Array) => zip.write(bytes),
      get sizeBytes() {
        return sink.sizeBytes;
      },
    };
    this.#buffer = new OutputBuffer(heap, rows, clock, bufferBytes);
    this.#addParts(form.frame.first);
    this.#beginSheet();
  }

  *push(batch: Batch): Slices {
    for (let from = 0; from < batch.live; ) {
      const left = this.#rowsMax + 1 - this.#program.row;
      if (left === 0) {
        this.#endSheet();
        this.#beginSheet();
        continue;
      }
      const rows = batch.slice(from, Math.min(batch.live, from + left));
      this.#batch = rows;
      this.#sources = rows.columns.map((column, index) => sheetSource(rows, column, this.#form.types[index]!));
      this.#program.load(this.#sources);
      yield* this.#buffer.write(this, rows.live);
      this.#batch = null;
      from += rows.live;
    }
  }

  finish(): void {
    this.#endSheet();
    this.#addParts(this.#form.frame.last(this.#sheetNames));
    this.#zip.finish();
  }

  emit(from: number, to: number, out: number, limit: number): { rows: number; next: number } {
    const { kernel } = this.#tools;
    const rows = kernel.exports.emitSheet(this.#program.at, this.#batch!.selection, from, to, out, limit);
    return { rows, next: this.#program.outNext };
  }

  *pieces(position: number): Iterable<Uint8Array> {
    const batch = this.#batch!;
    const physical = batch.physicalRow(position);
    const { row } = this.#program;
    yield Buffer.from(`<row r="${row}">`);
    for (const [index, source] of this.#sources.entries()) {
      const content = sheetContent(batch, index, source, physical);
      if (content !== null) yield Buffer.from(sheetCell(this.#form.columns[index]!, row, content));
    }
    yield Buffer.from('</row>');
    this.#program.row = row + 1;
  }

  #beginSheet(): void {
    const { frame, header, settings } = this.#form;
    const sheet = this.#sheetNames.length;
    this.#sheetNames.push(sheetName(settings.sheet, sheet));
    this.#zip.begin(`xl/worksheets/sheet${sheet + 1}.xml`);
    this.#zip.write(Buffer.from(frame.beforeRows + header));
    this.#program.row = header === '' ? 1 : 2;
  }

  #endSheet(): void {
    this.#buffer.flush();
    const lastRow = Math.max(1, this.#program.row - 1);
    this.#zip.write(Buffer.from(this.#form.frame.behindRows(lastRow)));
    this.#zip.end();
  }

  #addParts(parts: readonly WorkbookPart[]): void {
    for (const { name, xml } of parts) this.#zip.add(name, Buffer.from(xml));
  }
}
