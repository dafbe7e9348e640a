// Positions of columns that are made from other columns and take over the name of one of them.
import { golden } from './golden.ts';

golden('split_column', [
  {
    name: 'into the name of its source, which comes first',
    template: 'operations: [{split_column: {column: a, by: {separator: "-"}, into: [a, y]}}]',
    input: 'b,a,c\n0,1-2,k\n',
    output: 'b,a,y,c\n0,1,2,k\n',
  },
  {
    name: 'into the name of its source, between others',
    template: 'operations: [{split_column: {column: a, by: {separator: "-"}, into: [x, a, y, z]}}]',
    input: 'b,a,c\n0,1-2-3-4,k\n',
    output: 'b,x,a,y,z,c\n0,1,2,3,4,k\n',
  },
  {
    name: 'one name twice',
    template: 'operations: [{split_column: {column: a, by: {separator: "-"}, into: [a, a]}}]',
    problems: ['/operations/0/split_column/into/1 COLUMN_EXISTS'],
  },
]);

golden('merge_columns', [
  {
    name: 'into the name of the last one, in the place of the first',
    template: 'operations: [{merge_columns: {columns: [a, c], into: c}}]',
    input: 'a,b,c\n1,2,3\n',
    output: 'c,b\n1 3,2\n',
  },
  {
    name: 'into the name of a column of numbers, which becomes one of texts',
    template:
      'operations: [{parse_number: {columns: c}}, {merge_columns: {columns: [a, c], into: c}}, {set: {columns: {z: \'c + "!"\'}}}]',
    input: 'a,b,c\n1,2,3\n',
    output: 'c,b,z\n1 3,2,1 3!\n',
  },
  {
    name: 'with its sources kept, nothing moves',
    template: 'operations: [{merge_columns: {columns: [a, c], into: c, keep_source: true}}]',
    input: 'a,b,c\n1,2,3\n',
    output: 'a,b,c\n1,2,1 3\n',
  },
]);
