// The table of output formats. A format that is not here is refused when a Template is checked.
import { csv, tsv } from './csv/csv.ts';
import type { OutputFormat, OutputFormatTable } from './format.ts';
import { json, ndjson } from './json/json.ts';
import { parquet } from './parquet/parquet.ts';
import { xlsx } from './xlsx/xlsx.ts';

const formats: readonly OutputFormat[] = [csv, tsv, xlsx, json, ndjson, parquet];

/** In the order in which the language names them. */
export const outputFormats: OutputFormatTable = new Map(formats.map((format) => [format.name, format]));
