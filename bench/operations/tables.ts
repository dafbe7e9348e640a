// The reference tables of the operations benchmark. They are small, as such tables usually are.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COUNTRIES } from '../inputs/orders.ts';

export type TableName = 'regions' | 'tariff';

/** Number of regions into which the countries are divided. */
const REGIONS = 7;

/** Width of one step of the tariff. */
const STEP = 50;

const TEXTS: Readonly<Record<TableName, string>> = {
  regions: `code,region\n${COUNTRIES.map((code, index) => `${code},region ${index % REGIONS}\n`).join('')}`,
  tariff: `since,until,rate\n${Array.from({ length: 21 }, (_, step) => `${step * STEP},${(step + 1) * STEP - 0.01},T${step}\n`).join('')}`,
};

/** Writes the tables and returns their paths. */
export function writeTables(folder: string, names: readonly TableName[]): Readonly<Record<string, string>> {
  mkdirSync(folder, { recursive: true });
  return Object.fromEntries(
    names.map((name) => {
      const path = join(folder, `table-${name}.csv`);
      writeFileSync(path, TEXTS[name]);
      return [name, path];
    }),
  );
}
