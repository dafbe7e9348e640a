// The seam to the Template checker of the engine: the catalog's loader is given a checker and knows no Template itself.
import type { CatalogTable, TestsNamed } from './catalog.ts';

/** What a Template may refer to besides its own text. */
export interface TemplateContext {
  readonly account: string;
  readonly templateId: string;
  /** The account's reference tables by catalog name. */
  readonly tables: ReadonlyMap<string, CatalogTable>;
  /** Names of the account's secrets. */
  readonly secrets: ReadonlySet<string>;
}

/** What the list of Templates shows, and what the checker made: kept as it is for the engine. */
export interface SoundTemplate<Checked> {
  readonly name: string | null;
  readonly description: string | null;
  readonly outputFormat: string | null;
  readonly checked: Checked;
  readonly tests?: TestsNamed;
}

export interface TemplateProblem {
  readonly pointer: string;
  /** 1-based; null when the place in the text is not known. */
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
}

export type TemplateCheck<Checked> =
  | { readonly template: SoundTemplate<Checked> }
  /** `isPassing`: it says nothing of the text; the next time it may be another one. */
  | { readonly problems: readonly TemplateProblem[]; readonly isPassing?: boolean };

/** Checks one Template's text: the same words for the same text, names of tables and names of secrets. It throws only when it has a fault of its own. */
export type CheckTemplate<Checked> = (
  source: string,
  format: 'json' | 'yaml',
  context: TemplateContext,
) => TemplateCheck<Checked> | Promise<TemplateCheck<Checked>>;
