// The operation `rename`: renames columns. Does not change cells.

import type { Column } from '../batch/schema.ts';
import { Type } from '../bundled/type-box.ts';
import { PAUSE, type Sliced, type Slices } from '../scheduling/time-slices.ts';
import { columnName, exactlyOne } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';
import { namesFor } from '../template/operation-hint.ts';
import type { Scope } from '../template/scope.ts';
import { anyKey } from '../template/section-schemas.ts';
import { pointerSegment } from '../template/source-node.ts';
import { titleCase } from '../values/text-edits.ts';

type Style = 'snake' | 'lower' | 'upper' | 'title';

const COLUMNS_HINT = 'Write columns: {old_name: new_name}.';

export const rename = defineOperation({
  name: 'rename',
  purpose:
    'renames: `columns: {old: new}`, or `pattern` with `replace`, or one `style` (`snake`, `lower`, `upper`, `title`)',
  knownAs: [
    {
      names: 'rename_columns rename_column set_names rename_fields rename_headers alias',
      form: 'columns: {old: new}',
    },
  ],
  parametersKnownAs: namesFor(COLUMNS_HINT, 'old', 'new', 'from', 'to', 'mapping'),
  summary:
    'Renames columns by name, by a pattern, or to one style. All renames happen at the same time, and the new names must differ.',
  parameters: Type.Object(
    {
      columns: Type.Optional(
        Type.Record(anyKey, columnName, { minProperties: 1, description: '`{old: new}` for each column.' }),
      ),
      pattern: Type.Optional(
        Type.String({ minLength: 1, description: 'RE2 pattern; every match in every name is replaced.' }),
      ),
      replace: Type.Optional(
        Type.String({
          description: `Replacement; \`$1\` is the first group (\`\${1}\` before a digit), \`$$\` a dollar.`,
        }),
      ),
      style: Type.Optional(
        Type.Enum(['snake', 'lower', 'upper', 'title'], { description: 'One style for all names.' }),
      ),
    },
    exactlyOne(['columns'], ['pattern', 'replace'], ['style']),
  ),
  cells: false,
  memory: 'R',
  edits: () => [],
  examples: [
    {
      title: 'By name; names may be swapped',
      operation: { op: 'rename', columns: { a: 'b', b: 'a' } },
      input: { columns: ['a', 'b'], rows: [['1', '2']] },
      output: { columns: ['b', 'a'], rows: [['1', '2']] },
    },
    {
      title: 'By a pattern',
      operation: { op: 'rename', pattern: '^(\\w+) \\(EUR\\)$', replace: '$1_eur' },
      input: { columns: ['net (EUR)', 'tax (EUR)'], rows: [['1.00', '0.19']] },
      output: { columns: ['net_eur', 'tax_eur'], rows: [['1.00', '0.19']] },
    },
    {
      title: 'To one style',
      operation: { op: 'rename', style: 'snake' },
      input: { columns: ['Invoice No.', 'dueDate'], rows: [['7', '2026-01-31']] },
      output: { columns: ['invoice_no', 'due_date'], rows: [['7', '2026-01-31']] },
    },
  ],
  *effect({ columns, pattern, replace, style }, scope): Sliced<null> {
    if (columns !== undefined) yield* renameByName(columns, scope);
    else if (pattern !== undefined) yield* renameByPattern(pattern, replace ?? '', scope);
    else if (style !== undefined) yield* renameAll((name) => styled(name, style), '/style', scope);
    return null;
  },
  start(_plan, { next }) {
    return { push: next };
  },
});

function renameByName(columns: Readonly<Record<string, string>>, scope: Scope): Slices {
  const names = new Map<Column, string>();
  for (const [from, to] of Object.entries(columns)) {
    const column = scope.read(from, `/columns/${pointerSegment(from)}`);
    if (column !== null) names.set(column, to);
  }
  return scope.rename(names, '/columns');
}

function* renameByPattern(pattern: string, replacement: string, scope: Scope): Slices {
  const compiled = scope.compilePattern(pattern);
  if ('problem' in compiled) scope.problem('/pattern', 'BAD_PATTERN', compiled.problem);
  else {
    const group = compiled.unknownGroup(replacement);
    if (group === null) yield* renameAll((name) => compiled.replace(name, replacement), '/pattern', scope);
    else
      scope.problem(
        '/replace',
        'UNKNOWN_GROUP',
        `The pattern has no group ${JSON.stringify(group)}. Write $$ for a dollar.`,
      );
  }
}

/** A name that would become empty stays unchanged. */
function* renameAll(renamed: (name: string) => string, pointer: string, scope: Scope): Slices {
  scope.renameUnknown();
  const names = new Map<Column, string>();
  for (const column of scope.resolve('*', pointer)) {
    const { name } = column;
    names.set(column, renamed(name) || name);
    if (names.size % NAMES_AT_ONCE === 0 || name.length > SHORT_NAME_LENGTH_MAX) yield PAUSE;
  }
  yield* scope.rename(names, pointer);
}

/** Number of short names between two pauses; longer names are renamed one at a time. */
const NAMES_AT_ONCE = 16;
const SHORT_NAME_LENGTH_MAX = 64;

function styled(name: string, style: Style): string {
  if (style === 'lower') return name.toLowerCase();
  if (style === 'upper') return name.toUpperCase();
  if (style === 'title') return titleCase(name);
  return name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1_$2')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '')
    .toLowerCase();
}
