// The operation `parse_json`: texts become JSON values.
import { Type } from '../bundled/type-box.ts';
import { editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { jsonEdit } from '../execution/cells/json-edit.ts';
import { columnSet } from '../execution/parameters/column-set.ts';
import { defineOperation } from './operation.ts';

export const parseJson = defineOperation({
  name: 'parse_json',
  summary: 'Reads texts as JSON, which stays as it is written; what is none is the error BAD_JSON. JSON null is null.',
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
  start: (targets, context) =>
    startCellOperator(
      context,
      targets,
      targets.map((target) => jsonEdit(context, target)),
    ),
});
