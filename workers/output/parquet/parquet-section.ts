// What a Template sets of parquet: the section `output.parquet`.
import { Type } from '../../bundled/type-box.ts';
import { defineOutputSection } from '../format.ts';
import { DECIMAL_DIGITS } from './column-type.ts';

export interface ParquetSettings {
  readonly decimalScale: number;
}

/** What a division of two decimals has at most. */
const DECIMAL_SCALE_DEFAULT = 10;

export const parquetSection = defineOutputSection({
  name: 'parquet',
  schema: Type.Object({
    decimal_scale: Type.Integer({
      minimum: 0,
      maximum: DECIMAL_DIGITS,
      default: DECIMAL_SCALE_DEFAULT,
      description: 'Digits behind the point of all decimal columns, of 38 in all.',
    }),
  }),
  settings: (written): ParquetSettings => ({ decimalScale: written.decimal_scale }),
  check() {},
});
