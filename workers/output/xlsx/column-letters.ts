// Names of a sheet's columns: A to Z, AA to XFD.

const LETTERS = 26;
const CODE_OF_A = 65;

/** @param column from 0 */
export function columnLetters(column: number): string {
  let letters = '';
  for (let rest = column; rest >= 0; rest = Math.floor(rest / LETTERS) - 1) {
    letters = String.fromCharCode(CODE_OF_A + (rest % LETTERS)) + letters;
  }
  return letters;
}
