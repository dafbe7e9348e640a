// Checks a catalog folder whole, and with it the tests that lie in its Templates.
import type { Account, CatalogTemplate } from './catalog.ts';
import { loadCatalog } from './load-catalog.ts';
import type { CatalogProblem } from './problems.ts';
import type { CheckTemplate, TemplateProblem } from './template-checker.ts';

/** Runs the tests of one Template. It throws only when it has a fault of its own. */
export type TestTemplate<Checked> = (
  template: CatalogTemplate<Checked>,
  account: Account<Checked>,
) => Promise<{ readonly tests: number; readonly problems: readonly TemplateProblem[] }>;

export interface CatalogCheck {
  readonly problems: readonly CatalogProblem[];
  /** Problems beyond those that are listed. */
  readonly more: number;
  readonly accounts: number;
  readonly templates: number;
  /** Tests that were run; none while the catalog itself has problems. */
  readonly tests: number;
}

export async function checkCatalog<Checked>(
  directory: string,
  checkTemplate: CheckTemplate<Checked>,
  testTemplate: TestTemplate<Checked>,
): Promise<CatalogCheck> {
  const loaded = await loadCatalog(directory, checkTemplate);
  if (!loaded.ok) return { problems: loaded.problems, more: loaded.more, accounts: 0, templates: 0, tests: 0 };
  const problems: CatalogProblem[] = [];
  let templates = 0;
  let tests = 0;
  for (const account of loaded.catalog.accounts.values()) {
    for (const template of account.templates.values()) {
      const result = await testTemplate(template, account);
      for (const problem of result.problems) problems.push({ ...problem, file: template.file });
      templates += 1;
      tests += result.tests;
    }
  }
  return { problems, more: 0, accounts: loaded.catalog.accounts.size, templates, tests };
}
