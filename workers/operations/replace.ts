// The operation `replace`: finds texts in cells and replaces them.

import { type Static, Type } from '../bundled/type-box.ts';
import { editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import * as steps from '../execution/cells/replace-steps.ts';
import { type TextStep, textEdit } from '../execution/cells/text-chain.ts';
import { compileRegularExpression, type RegularExpression } from '../expression/patterns/regular-expression.ts';
import type { Heap } from '../memory/heap.ts';
import { columnSet, exactlyOne, PARAMETER_LENGTH_MAX } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';
import { anyKey } from '../template/section-schemas.ts';

const find = Type.String({ minLength: 1, description: 'The text or RE2 pattern to find.' });
const put = Type.String({
  maxLength: PARAMETER_LENGTH_MAX,
  description: `Replacement. With a pattern, \`$1\` is its first group (\`\${1}\` before a digit), \`$0\` the match, \`$$\` a dollar.`,
});

const parameters = Type.Object(
  {
    columns: columnSet,
    find: Type.Optional(find),
    replace: Type.Optional(put),
    pairs: Type.Optional(
      Type.Union(
        [
          Type.Array(Type.Object({ find, replace: put }, { additionalProperties: false }), { minItems: 1 }),
          Type.Record(anyKey, put, { minProperties: 1 }),
        ],
        {
          description:
            'Several replacements, `[{find, replace}]` or `{find: replace}`. Each works on the result of the one before; with `whole_cell`, the first one that matches is used.',
        },
      ),
    ),
    mode: Type.Optional(
      Type.Enum(['literal', 'regex', 'whole_cell'], {
        default: 'literal',
        description:
          '`literal`: anywhere in the cell; `whole_cell`: only cells that equal the text; `regex`: RE2 pattern.',
      }),
    ),
    case_sensitive: Type.Optional(Type.Boolean({ default: true, description: '`false` ignores case.' })),
    count: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'Maximum number of replacements in each cell, from the start.',
      }),
    ),
    into: intoParameter,
  },
  exactlyOne(['find', 'replace'], ['pairs']),
);

type Parameters = Static<typeof parameters>;
type Pair = readonly [find: string, put: string];

/** Hint for a parameter that other languages use for patterns. */
const PATTERN_HINT = "Write find: '...' with mode: regex.";

export const replace = defineOperation({
  name: 'replace',
  purpose: 'replaces texts, whole cells or patterns',
  summary: 'Replaces texts, whole cells or matches of patterns. Cells that become empty become null.',
  knownAs: [
    {
      names: 'replace_text find_replace find_and_replace str_replace substitute remove_text ssub',
      form: "columns: ..., find: '...', replace: '...'",
    },
    {
      names: 'regex regexp regex_replace sub gsub',
      form: "columns: ..., mode: regex, find: '...', replace: '...'",
    },
  ],
  parametersKnownAs: { regex: PATTERN_HINT, regexp: PATTERN_HINT, pattern: PATTERN_HINT },
  parameters,
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'A text anywhere',
      operation: { op: 'replace', columns: 'street', find: 'str.', replace: 'straße' },
      input: { columns: ['street'], rows: [['Hauptstr. 1'], ['Ring 2'], [null]] },
      output: { columns: ['street'], rows: [['Hauptstraße 1'], ['Ring 2'], [null]] },
    },
    {
      title: 'Whole cells, regardless of case',
      operation: {
        op: 'replace',
        columns: '*',
        pairs: { 'n/a': '', none: '' },
        mode: 'whole_cell',
        case_sensitive: false,
      },
      input: {
        columns: ['a', 'b'],
        rows: [
          ['N/A', 'none such'],
          ['None', '7'],
        ],
      },
      output: {
        columns: ['a', 'b'],
        rows: [
          [null, 'none such'],
          [null, '7'],
        ],
      },
    },
    {
      title: 'A pattern with groups',
      operation: { op: 'replace', columns: ['date'], find: '^(\\d\\d)/(\\d\\d)', replace: '$2.$1', mode: 'regex' },
      input: { columns: ['date'], rows: [['01/31/2026'], ['soon']] },
      output: { columns: ['date'], rows: [['31.01/2026'], ['soon']] },
    },
    {
      title: 'Only the first match, regardless of case',
      operation: { op: 'replace', columns: 'a', find: 'X', replace: '[$1]', case_sensitive: false, count: 1 },
      input: { columns: ['a'], rows: [['xX'], ['öx']] },
      output: { columns: ['a'], rows: [['[$1]X'], ['ö[$1]']] },
    },
  ],
  effect(given, scope) {
    const pairs = pairsOf(given);
    const patterns = given.mode === 'regex' ? compilePatterns(pairs, given, scope) : [];
    const targets = cellTargets(scope, { columns: given.columns, into: given.into, takes: ['text'], makes: null });
    return { targets, pairs, patterns, given };
  },
  edits: ({ targets }) => editedIds(targets),
  start({ targets, pairs, patterns, given }, context) {
    const chain = replaceSteps(context.arena.heap, pairs, patterns, given);
    const edit = textEdit(context, chain);
    return startCellOperator(
      context,
      targets,
      targets.map(() => edit),
    );
  },
});

function pairsOf({ find = '', replace = '', pairs }: Parameters): Pair[] {
  if (pairs === undefined) return [[find, replace]];
  if (Array.isArray(pairs)) return pairs.map((pair) => [pair.find, pair.replace]);
  return Object.entries(pairs as Record<string, string>);
}

function compilePatterns(pairs: readonly Pair[], given: Parameters, scope: Scope): RegularExpression[] {
  const pointer = given.pairs === undefined ? '/find' : '/pairs';
  return pairs.flatMap(([find, put]) => {
    const pattern = compileRegularExpression(given.case_sensitive === false ? `(?i)${find}` : find);
    if ('problem' in pattern) {
      scope.problem(pointer, 'BAD_PATTERN', pattern.problem);
      return [];
    }
    for (const name of steps.unknownGroups(put, pattern)) {
      scope.problem(
        given.pairs === undefined ? '/replace' : pointer,
        'UNKNOWN_GROUP',
        `The pattern has no group ${JSON.stringify(name)}.${digitHint(name)} Write $$ for a dollar.`,
      );
    }
    return [pattern];
  });
}

/** A digit after a group would be read as part of the group number. */
function digitHint(name: string): string {
  return /^[0-9]{2}$/.test(name) ? ` Write \${${name[0]}}${name[1]} for a digit after a group.` : '';
}

function replaceSteps(
  heap: Heap,
  pairs: readonly Pair[],
  patterns: readonly RegularExpression[],
  given: Parameters,
): TextStep[] {
  const { mode = 'literal', case_sensitive: caseSensitive = true, count = null } = given;
  if (mode === 'regex')
    return patterns.map((pattern, index) => steps.patternStep(heap, pattern, pairs[index]![1], count));
  if (mode === 'whole_cell') return [steps.wholeCellStep(heap, pairs, !caseSensitive)];
  const step = caseSensitive ? steps.literalStep : steps.literalAnyCaseStep;
  return pairs.map(([find, put]) => step(heap, find, put, count));
}
