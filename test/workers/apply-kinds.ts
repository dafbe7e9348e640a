// Applies a Template to a table whose cells know their kinds, and tells what a writer is told of each cell.

import { templateLanguage } from '../../workers/plan/template-language.ts';
import { kindsFormat } from '../fixtures/kinds-format.ts';
import { type TypedCell, typedTable, typedTableFormat } from '../fixtures/typed-table.ts';
import { applyTemplate, type Limits } from './apply-template.ts';

const language = {
  ...templateLanguage,
  outputFormats: new Map([...templateLanguage.outputFormats, [kindsFormat.name, kindsFormat]]),
};

/** By name: null, or "kind:text" as kinds-format.ts writes it. */
export type KnownRow = Readonly<Record<string, string | null>>;

export interface KindsOptions extends Limits {
  readonly batchRows?: number;
  readonly tables?: Readonly<Record<string, string>>;
  /** By column, whether the file knows its kinds: all unless given. */
  readonly hasKinds?: readonly boolean[];
}

/** @throws with the failure of a Run that failed */
export async function applyKinds(
  template: object,
  headers: readonly string[],
  rows: readonly (readonly TypedCell[])[],
  { batchRows = 4096, tables = {}, hasKinds = headers.map(() => true), ...limits }: KindsOptions = {},
): Promise<KnownRow[]> {
  const { text, outcome } = await applyTemplate(
    { ...template, output: { format: 'kinds' } },
    typedTable({ headers, hasKinds }, rows),
    batchRows,
    tables,
    { ...limits, language, formats: [typedTableFormat] },
  );
  if (text === null) throw new Error(JSON.stringify(outcome));
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as KnownRow]));
}
