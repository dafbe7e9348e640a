// The cases that tests of all operations need, with one file for each operation in cases/. A file is found by the name of its
// operation, so a new operation needs no line in a table of the tests.
import { existsSync } from 'node:fs';
import { operationTable } from '../../workers/operations/index.ts';
import type { Application } from './lost-cells.ts';
import type { NativeKindCase } from './native-kinds.ts';
import type { WorstCase } from './worst-cases.ts';

export interface OperationCases {
  /** What the operation does to cells that are numbers, dates and so on: test/workers/operations/native-kinds.test.ts. */
  readonly nativeKinds: readonly NativeKindCase[];
  /** Parameters with which no cell may be lost: test/language/lost-cells.test.ts. */
  readonly lostCells: readonly Application[];
  /** The most expensive parameters: test/stress/worst-cases.test.ts. */
  readonly worstCases: readonly WorstCase[];
  /**
   * Parameters with which the time must be linear in the length of the texts in column `a`:
   * test/workers/execution/linear-time.test.ts. Operations on cells need the list; it is empty if they accept no texts.
   */
  readonly linearTime?: readonly Readonly<Record<string, unknown>>[];
}

/** Path of an operation's file in this folder, without its ending. */
export function pathOfCases(operation: string): string {
  return `cases/${operation.replaceAll('_', '-')}`;
}

/** By the name of the operation, in the order of the operation table. Throws if files are missing, and names them. */
export async function loadOperationCases(): Promise<ReadonlyMap<string, OperationCases>> {
  const names = [...operationTable.keys()];
  const url = (name: string): URL => new URL(`./${pathOfCases(name)}.js`, import.meta.url);
  const missing = names
    .filter((name) => !existsSync(url(name)))
    .map((name) => `test/operations/${pathOfCases(name)}.ts`);
  if (missing.length > 0) throw new Error(`Write ${missing.join(', ')} (docs/how-to/add-an-operation.md)`);
  return new Map(
    await Promise.all(
      names.map(async (name) => {
        const { cases } = (await import(url(name).href)) as { cases: OperationCases };
        return [name, cases] as const;
      }),
    ),
  );
}
