// The fuzzing cases by number: marked tables in any dialect, hostile files, damaged forms, random Templates.
import type { Answer } from '../blackbox/client.ts';
import { CANARY, type Form, field, file, form, type Part } from '../blackbox/multipart.ts';
import { type AnyTemplate, fileFor, WITNESS } from './any-template.ts';
import type { FuzzCase } from './case.ts';
import { nothingMore } from './case.ts';
import { Chance } from './chance.ts';
import { anyHostileFile } from './hostile-files.ts';
import { anyDialect, anyMarkedTable, lostCells, type MarkedTable, parseRows, written } from './marked-table.ts';

/** The part of the Run's report that counts rows and cells. */
interface Report {
  readonly rows_read: number;
  readonly rows_written: number;
  readonly input: { readonly errors: Readonly<Record<string, { readonly count: number }>> };
  readonly operations: readonly { readonly operation: string; readonly rows_in: number; readonly rows_out: number }[];
}

/** Templates that are there from the start; `plain` has no operations. */
export const FIXED = ['plain', 'text', 'headers', 'json', 'state'] as const;

/** What a case sends depends on the seed, its number, and `any`, the Templates by their ids. */
export function fuzzCase(seed: number, number: number, any: ReadonlyMap<string, AnyTemplate>): FuzzCase {
  const chance = new Chance(seed, number);
  const kind = chance.of(['table', 'table', 'hostile', 'hostile', 'form', 'template', 'template', 'template'] as const);
  const made = { table: markedCase, hostile: hostileCase, form: formCase, template: templateCase }[kind](chance, any);
  return { name: `${kind} ${number}`, chunked: chance.oneIn(3), vanishesAt: null, wrong: nothingMore, ...made };
}

type Made = Pick<FuzzCase, 'template' | 'form'> & Partial<FuzzCase>;

function markedCase(chance: Chance): Made {
  const table = anyMarkedTable(chance);
  const bytes = written(table, anyDialect(chance));
  const wrong = async ({ run }: Answer, output: () => Promise<string>): Promise<string | null> => {
    const { input, rows_read } = reportOf(run);
    const ragged = Object.values(input.errors).reduce((sum, { count }) => sum + count, 0);
    if (ragged === 0 && rows_read < table.rows.length) return `${rows_read} of ${table.rows.length} rows were read`;
    return lostCells(table, await output(), ragged * table.headers.length);
  };
  // A lone word above lines of so many words each may be a title as well: of one column it must be declared.
  const told = table.headers.length === 1 ? [field('header_row', '0')] : [];
  return { template: 'plain', form: form([file(bytes), ...told]), wrong };
}

function hostileCase(chance: Chance): Made {
  const parts: Part[] = [file(anyHostileFile(chance))];
  if (chance.oneIn(4)) parts.push(field('delimiter', chance.of([',', ';', '\u00a6', '\t', '', 'ab'])));
  if (chance.oneIn(4)) parts.push(field('header_row', chance.of(['0', '1', '99999999', '-1', ''])));
  return { template: chance.of(FIXED), form: form(parts) };
}

/** A sound form with pieces put in, taken out or doubled, or one whose client goes away. */
function formCase(chance: Chance): Made {
  const parts = [file(written(anyMarkedTable(chance), anyDialect(chance))), field('header_row', '0')];
  const { body, contentType } = form(chance.oneIn(2) ? parts : [...parts].reverse());
  if (chance.oneIn(4)) return { template: 'plain', form: { body, contentType }, vanishesAt: chance.below(body.length) };
  return { template: 'plain', form: spoiledForm({ body, contentType }, chance) };
}

const FORM_PIECES = [
  ...[
    '\r\n',
    '\r',
    '\n',
    '--',
    '----templateRunBlackBox7f3a',
    '----templateRunBlackBox7f3a--\r\n',
    '"',
    ';',
    ':',
    '\0',
  ],
  ...["filename*=utf-8''x", 'name="file"', 'Content-Type: multipart/mixed', 'Content-Transfer-Encoding: base64\r\n'],
];

function spoiledForm({ body, contentType }: Form, chance: Chance): Form {
  let bytes = body;
  for (let count = 1 + chance.below(4); count > 0; count -= 1) {
    // Most of what a form can get wrong stands near its ends.
    const near = chance.of([300, 300, bytes.length]);
    const at = chance.oneIn(2) ? chance.below(near) : Math.max(0, bytes.length - chance.below(near));
    const kind = chance.below(3);
    if (kind === 0) {
      bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(chance.of(FORM_PIECES)), bytes.subarray(at)]);
    } else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + chance.below(30))]);
    else bytes = bytes.subarray(0, chance.oneIn(3) ? at : bytes.length);
  }
  const types = [contentType, contentType, contentType, `${contentType}; charset=${CANARY}`, 'multipart/form-data'];
  return { body: bytes, contentType: chance.of(types) };
}

function templateCase(chance: Chance, any: ReadonlyMap<string, AnyTemplate>): Made {
  const id = chance.of([...any.keys()]);
  const template = any.get(id)!;
  const { table, bytes } = fileFor(template, chance);
  const wrong = async ({ run }: Answer, output: () => Promise<string>): Promise<string | null> =>
    lostRows(table, reportOf(run)) ??
    (run.output!.mime_type === 'text/csv' ? lostWitnesses(reportOf(run), await output(), template) : null);
  return { template: id, form: form([file(bytes), field('header_row', '0'), field('delimiter', ',')]), wrong };
}

function reportOf(run: object): Report {
  return (run as { report: Report }).report;
}

/** Operations that may have had enough: what those before them give is then not taken. */
const ENDS: ReadonlySet<string> = new Set(['slice', 'stop_when']);

/** What one step of the chain gives is what the next one gets. */
function lostRows({ rows }: MarkedTable, { rows_read, rows_written, operations }: Report): string | null {
  if (rows_read !== rows.length) return `${rows_read} of ${rows.length} rows were read`;
  let given = operations[0]?.rows_in ?? rows_written;
  for (const [index, { rows_in, rows_out }] of operations.entries()) {
    const mayEnd = operations.slice(index).some(({ operation }) => ENDS.has(operation));
    if (rows_in > given || (rows_in < given && !mayEnd)) return `operation ${index} got ${rows_in} of ${given} rows`;
    given = rows_out;
  }
  return rows_written === given ? null : `${rows_written} of ${given} rows were written`;
}

/** Operations that may make several rows of one, or rows without a witness. */
const MAKES_ROWS: ReadonlySet<string> = new Set(['append_rows', 'explode', 'unpivot', 'transpose']);

/** Where the witness is still a column that nobody touched, as many stand there as rows were not dropped. */
function lostWitnesses({ operations }: Report, output: string, { touchesWitness }: AnyTemplate): string | null {
  if (touchesWitness || operations.some(({ operation }) => MAKES_ROWS.has(operation))) return null;
  const [headers, ...rows] = parseRows(output);
  const column = headers?.indexOf(WITNESS) ?? -1;
  if (column < 0) return null;
  const found = new Set(rows.map((row) => row[column])).size;
  const kept = operations.at(-1)!.rows_out;
  return found === kept ? null : `${found} witnesses of ${kept} rows are in the output`;
}
