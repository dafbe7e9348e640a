// Select and rename in the language of each system: the common part of W1, W7 and their variants on other files.
import type { InputName } from '../inputs/index.ts';
import { positions } from './javascript-program.ts';
import type { Workload } from './workload.ts';

/** A column of the file and its name in the output, in order. */
export type Selected = readonly (readonly [column: string, name: string])[];

interface Selecting {
  readonly name: string;
  readonly title: string;
  readonly input: InputName;
  readonly ending: Workload['ending'];
  readonly selected: Selected;
}

export function selecting({ name, title, input, ending, selected }: Selecting): Workload {
  const columns = selected.map(([column]) => column);
  const renamed = selected.filter(([column, name]) => column !== name);
  const rename = renamed.length === 0 ? [] : ['then', 'rename', renamed.flat().join(',')];
  return {
    name,
    title,
    input,
    ending,
    template: {
      format: 1,
      operations: [
        { op: 'select', columns },
        { op: 'rename', columns: Object.fromEntries(renamed) },
      ],
      output: { format: ending },
    },
    duckdb: `SELECT ${selected.map(([column, name]) => `${column} AS ${name}`).join(', ')} FROM input`,
    polars: (rows, { col }) => rows.select(...selected.map(([column, name]) => col(column).alias(name))),
    miller: { flags: ['-S'], verbs: ['cut', '-o', '-f', columns.join(','), ...rename] },
    javascript: (header) => {
      const taken = positions(header, columns);
      return {
        columns: selected.map(([, name]) => name),
        row: (cells) => taken.map((position) => cells[position]!),
      };
    },
    answer: { numbers: [], lenient: {} },
    limit: ['scan', 'write'],
  };
}
