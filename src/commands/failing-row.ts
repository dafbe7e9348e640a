// `run --show-cell`: the row that ended a Run, as it came to the operation that failed, for its author's own terminal. No
// message and no report holds a cell; so the file is read a second time, with the operations before that one.
import { createHash } from 'node:crypto';
import { checkTemplate } from '../../workers/plan/check-template.ts';
import type { RowPlace } from '../../workers/protocol/failure.ts';
import type { TemplateOperation } from '../../workers/template/template.ts';
import { parseTemplate, type TemplateText } from '../../workers/template/template-text.ts';
import type { LocalEngine } from './local-engine.ts';

/** Cells of the row that are shown: more than fill a screen. */
const CELLS_MAX = 40;

/** Characters of a cell that are shown. */
const CELL_CHARACTERS_MAX = 500;

/** Lines for the terminal: the cell at fault, then the whole row. Says so where the row cannot be had so. */
export async function failingRowLines(
  engine: LocalEngine,
  input: string,
  template: TemplateText,
  place: RowPlace,
): Promise<readonly string[]> {
  const { outcome } = await engine.run(input, failingRowTemplate(template, place));
  engine.discard(input);
  const bytes = outcome.output?.bytes;
  const text = bytes === undefined || bytes === null ? '' : Buffer.from(bytes).toString('utf8');
  const [line = ''] = text.split('\n');
  if (outcome.failure !== null || line === '')
    return ['  the row cannot be shown: it is not among the rows before that operation'];
  const row = Object.entries(JSON.parse(line) as Readonly<Record<string, unknown>>);
  const { column } = place;
  const shown = column === null ? row : row.filter(([name]) => name === column);
  const rest = column === null ? [] : row.filter(([name]) => name !== column);
  const cells = [...shown, ...rest].slice(0, CELLS_MAX);
  const more = row.length - cells.length;
  return [
    ...cells.map(
      ([name, cell], index) => `  ${index < shown.length && column !== null ? '>' : ' '} ${cellText(name, cell)}`,
    ),
    ...(more > 0 ? [`    and ${more} more columns`] : []),
  ];
}

function cellText(name: string, cell: unknown): string {
  const text = JSON.stringify(cell);
  const cut =
    text.length > CELL_CHARACTERS_MAX ? `${text.slice(0, CELL_CHARACTERS_MAX)}... (${text.length} characters)` : text;
  return `${JSON.stringify(name)}: ${cut}`;
}

/** A Template that gives one row as it came to an operation: rows that fail before it are left out. */
export function failingRowTemplate({ source, format }: TemplateText, { row, step }: RowPlace): TemplateText {
  const checked = checkTemplate(source, format);
  const parsed = parseTemplate(source, format);
  if ('problems' in checked || 'problems' in parsed) throw new Error('a Template that ran is not sound');
  const { input, tables, defaults } = parsed.text.root.value as Readonly<Record<string, object | undefined>>;
  const before = checked.template.operations.slice(0, step).map(written);
  const json = JSON.stringify({
    input,
    tables,
    defaults: { ...defaults, on_error: 'drop_row', max_errors: null, max_error_ratio: null },
    operations: [...before, { op: 'filter', where: `run.row == ${row}` }],
    output: { format: 'ndjson' },
  });
  return { source: json, format: 'json', sha256: createHash('sha256').update(json).digest('hex') };
}

/** As it would stand in a file. */
function written({ name, where, ifMissing, onError, parameters }: TemplateOperation): object {
  return {
    ...parameters,
    op: name,
    ...(where === null ? {} : { where }),
    if_missing: ifMissing,
    on_error: onError === 'fail' || onError === 'reject' ? 'drop_row' : onError,
  };
}
