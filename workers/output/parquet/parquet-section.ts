// Settings of parquet in a Template: the section `output.parquet`.
import { Type } from '../../bundled/type-box.ts';
import { defineOutputSection } from '../format.ts';
import { DECIMAL_DIGITS } from './column-type.ts';

export interface ParquetSettings {
  readonly decimalScale: number;
}

/** Equals the maximum scale of a quotient of two decimals. */
const DECIMAL_SCALE_DEFAULT = 10;

export const parquetSection = defineOutputSection({
  name: 'parquet',
  schema: Type.Object({
    decimal_scale: Type.Integer({
      minimum: 0,
      maximum: DECIMAL_DIGITS,
      default: DECIMAL_SCALE_DEFAULT,
      description: 'Decimal places of all decimal columns, which have 38 digits in total.',
    }),
  }),
  settings: (written): ParquetSettings => ({ decimalScale: written.decimal_scale }),
  check() {},
});
