// Time zones after times in exports, by name and by offset, in date patterns.
import { golden } from './golden.ts';

golden('zones as exports write them', [
  {
    name: 'names, offsets and both',
    template: `operations: [{parse_date: {columns: t, formats: ["yyyy-MM-dd HH:mm:ss z"], type: datetime}}]`,
    input: [
      't',
      ...['GMT+2', 'UTC-03:00', 'CEST', 'utc', 'Z', 'PDT', 'GMT+0530', 'UTC+530', '+01:00', 'MEZ', 'UTC\u22123'].map(
        (zone) => `2026-07-01 12:00:00 ${zone}`,
      ),
      '',
    ].join('\n'),
    output: [
      't',
      ...['10:00', '15:00', '10:00', '12:00', '12:00', '19:00', '06:30', '06:30', '11:00', '11:00', '15:00'].map(
        (time) => `2026-07-01T${time}:00Z`,
      ),
      '',
    ].join('\n'),
  },
  {
    name: 'what several zones are called, and what is none',
    template: `operations: [{parse_date: {columns: t, formats: ["HH:mm z dd.MM.yyyy"], type: datetime, on_error: blank}}]`,
    input:
      't\n12:00 BST 01.07.2026\n12:00 IST 01.07.2026\n12:00 CET+1 01.07.2026\n12:00 GMT+16 01.07.2026\n12:00 GMT+1 01.07.2026\n',
    output: 't\n""\n""\n""\n""\n2026-07-01T11:00:00Z\n',
  },
  {
    name: 'in an expression, and written',
    template: `operations: [{set: {columns: {u: 'format_date(to_timezone(parse_date(t, "dd/MMM/yyyy HH:mm z"), "Europe/Berlin"), "HH:mm z")'}}}]`,
    input: 't\n01/Jul/2026 12:00 GMT-8\n',
    output: 't,u\n01/Jul/2026 12:00 GMT-8,22:00 UTC+02:00\n',
  },
]);
