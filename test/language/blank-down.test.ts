// blank_down over columns of every type.
import { golden } from './golden.ts';

golden('blank_down of values', [
  {
    name: 'numbers by value, beyond 64 bits too, instants, days, JSON as it is written',
    template: `operations:
  - {cast: {columns: {a: decimal, n: number, t: datetime, b: boolean}}}
  - {parse_json: {columns: j}}
  - {blank_down: {columns: "*"}}`,
    input: `a,n,t,b,j
99999999999999999999.0,-0,2026-01-31T10:00:00Z,true,{}
99999999999999999999,0,2026-01-31T11:00:00+01:00,true,{ }
99999999999999999998,1e2,,,{ }
,100,2026-01-31T10:00:00Z,true,
7,,2026-01-31T10:00:01Z,false,null
`,
    // The third row's 1e2 is a double like any other. A value after an empty cell is shown again.
    output: `a,n,t,b,j
99999999999999999999.0,0,2026-01-31T10:00:00Z,true,{}
,,,,{ }
99999999999999999998,100,,,
,,2026-01-31T10:00:00Z,true,
7,,2026-01-31T10:00:01Z,false,
`,
  },
]);
