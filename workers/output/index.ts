// Table of output formats. The check of a Template refuses formats that are not in this table.
import { csv, tsv } from './csv/csv-writer.ts';
import type { OutputFormat, OutputFormatTable } from './format.ts';
import { json, ndjson } from './json/json-writer.ts';
import { parquet } from './parquet/parquet.ts';
import { xlsx } from './xlsx/xlsx.ts';

const formats: readonly OutputFormat[] = [csv, tsv, xlsx, json, ndjson, parquet];

/** In the order of the language. */
export const outputFormats: OutputFormatTable = new Map(formats.map((format) => [format.name, format]));
