// The interface between the catalog's loader and the engine's Template checker. The loader receives a checker and
// knows nothing about Templates.
import type { CatalogTable, TemplateColumn, TemplateTestSummary } from './catalog.ts';

/** Names that a Template may refer to. */
export interface TemplateContext {
  readonly account: string;
  readonly templateId: string;
  /** The account's reference tables by catalog name. */
  readonly tables: ReadonlyMap<string, CatalogTable>;
  /** Names of the account's secrets. */
  readonly secrets: ReadonlySet<string>;
}

/** The data shown in the list of Templates, and the checker's result, which is kept unchanged for the engine. */
export interface ValidTemplate<Checked> {
  readonly name: string | null;
  readonly description: string | null;
  readonly outputFormat: string | null;
  readonly columns?: readonly TemplateColumn[];
  readonly checked: Checked;
  readonly tests?: TemplateTestSummary;
}

export interface TemplateProblem {
  readonly pointer: string;
  /** Counted from 1; null: position unknown. */
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
}

export type TemplateCheck<Checked> =
  | { readonly template: ValidTemplate<Checked> }
  /** `isTemporary`: the problem may disappear although the text is unchanged. */
  | { readonly problems: readonly TemplateProblem[]; readonly isTemporary?: boolean };

/**
 * Checks one Template's text. The result depends only on the text and the names of tables and secrets. Throws only on
 * a fault of the program.
 */
export type CheckTemplate<Checked> = (
  source: string,
  format: 'json' | 'yaml',
  context: TemplateContext,
) => TemplateCheck<Checked> | Promise<TemplateCheck<Checked>>;
