// The product's bundles and, made with them, what a contender's process runs: so the benchmark measures the engine as the
// product has it, in chunks for which the same code was compiled before. Run by contender-bundles.ts from the package's root.
import { program } from '../rolldown.config.mjs';

export default {
  ...program,
  input: { ...program.input, 'measured-run': 'dist/bench/measured-run.js' },
  // As far from dist/workers as the product's.
  output: { ...program.output, dir: 'dist/bench-bundled' },
};
