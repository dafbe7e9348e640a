// Bundles the product together with the code that the process of a contender runs. The benchmark therefore measures the
// engine in the same chunks as in the product, with the same code compiled in advance. contender-bundles.ts runs this
// in the root of the package.
import { program } from '../rolldown.config.mjs';

export default {
  ...program,
  input: { ...program.input, 'measured-run': 'dist/bench/measured-run.js' },
  // At the same depth as the product's bundles, so that relative paths to dist/workers stay valid.
  output: { ...program.output, dir: 'dist/bench-bundled' },
};
