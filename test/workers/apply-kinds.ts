// Applies a Template to a table whose cells have native kinds, and returns the kind and text of each cell that a writer receives.

import { templateLanguage } from '../../workers/plan/plan.ts';
import { kindsFormat } from '../fixtures/kinds-format.ts';
import { type TypedCell, typedTable, typedTableFormat } from '../fixtures/typed-table.ts';
import { applyTemplate, type Limits } from './apply-template.ts';

const language = {
  ...templateLanguage,
  outputFormats: new Map([...templateLanguage.outputFormats, [kindsFormat.name, kindsFormat]]),
};

/** Cells by column name: null, or "kind:text" in the notation of kinds-format.ts. */
export type KnownRow = Readonly<Record<string, string | null>>;

export interface KindsOptions extends Limits {
  readonly batchRows?: number;
  readonly tables?: Readonly<Record<string, string>>;
  /** For each column, true if the file has native kinds. All columns have kinds by default. */
  readonly hasKinds?: readonly boolean[];
}

/** @throws the failure of a failed Run */
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
