// The operation `parse_json`: parses texts as JSON values.
import { Type } from '../bundled/type-box.ts';
import { editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { jsonEdits } from '../execution/cells/json.ts';
import { columnSet } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';

export const parseJson = defineOperation({
  name: 'parse_json',
  purpose: 'parses texts as JSON',
  summary:
    'Parses texts as JSON, without changing them. A text that is not JSON is the error BAD_JSON. JSON null becomes null.',
  knownAs: [{ names: 'json from_json json_parse json_decode read_json', form: 'columns: ...' }],
  parameters: Type.Object({ columns: columnSet, into: intoParameter }),
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'A column of objects',
      operation: { op: 'parse_json', columns: ['data'] },
      input: { columns: ['data'], rows: [['{"a": 1.50}'], ['{a: 1}'], [' [1,2] '], ['null'], [null]] },
      output: { columns: ['data'], rows: [['{"a": 1.50}'], [null], ['[1,2]'], [null], [null]] },
    },
  ],
  effect: ({ columns, into }, scope) => cellTargets(scope, { columns, into, takes: ['text'], makes: 'json' }),
  edits: editedIds,
  start: (targets, context) => startCellOperator(context, targets, targets.map(jsonEdits(context))),
});
