// The table of input formats: one line each.
import { csvFormat } from './csv/csv-format.ts';
import { fixedFormat } from './fixed/fixed-format.ts';
import type { InputFormat } from './format.ts';
import { jsonFormat } from './json/json-format.ts';
import { parquetFormat } from './parquet/parquet-format.ts';
import { xlsxFormat } from './xlsx/xlsx-format.ts';

export const inputFormats: readonly InputFormat[] = [csvFormat, jsonFormat, xlsxFormat, parquetFormat, fixedFormat];
