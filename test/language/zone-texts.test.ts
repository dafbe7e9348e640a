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
    errors: ['parse_date: AMBIGUOUS_ZONE 2 1 2', 'parse_date: NOT_A_DATE 2 3 4'],
  },
  {
    name: 'in an expression, and written',
    template: `operations: [{set: {columns: {u: 'format_date(to_timezone(parse_date(t, "dd/MMM/yyyy HH:mm z"), "Europe/Berlin"), "HH:mm z")'}}}]`,
    input: 't\n01/Jul/2026 12:00 GMT-8\n',
    output: 't,u\n01/Jul/2026 12:00 GMT-8,22:00 UTC+02:00\n',
  },
]);

golden('names of zones of the IANA database', [
  {
    name: 'with the offset of the day, in any case, and after an offset',
    template: `operations: [{parse_date: {columns: t, formats: ["yyyy-MM-dd HH:mm z", "yyyy-MM-dd'T'HH:mmX'['z']'"], timezone: Asia/Tokyo, on_error: blank}}]`,
    input: [
      't',
      '2026-01-01 12:00 Europe/Berlin',
      '2026-07-01 12:00 europe/berlin',
      '2026-07-01 24:00 America/Argentina/Buenos_Aires',
      '2026-07-01T12:00+02:00[America/New_York]',
      '2026-07-01 12:00 Europe/Nowhere',
      '2026-07-01 12:00 Berlin',
      '',
    ].join('\n'),
    output: 't\n2026-01-01T11:00:00Z\n2026-07-01T10:00:00Z\n2026-07-02T03:00:00Z\n2026-07-01T10:00:00Z\n""\n""\n',
    errors: ['parse_date: NOT_A_DATE 2 5 6'],
  },
  {
    name: 'local times that do not exist or exist twice',
    template: `operations: [{parse_date: {columns: t, formats: ["yyyy-MM-dd HH:mm z"], on_error: blank}}]`,
    input: 't\n2026-03-29 02:30 Europe/Berlin\n2026-10-25 02:30 Europe/Berlin\n',
    output: 't\n""\n2026-10-25T00:30:00Z\n',
    errors: ['parse_date: DATE_IN_DST_GAP 1 1', 'parse_date: DATE_IN_DST_OVERLAP 1 2'],
  },
  {
    name: 'with dst, and as the day in another zone',
    template: `operations:
  - {parse_date: {columns: t, formats: ["yyyy-MM-dd HH:mm z"], dst: later, into: later}}
  - {parse_date: {columns: t, formats: ["yyyy-MM-dd HH:mm z"], type: date, to_timezone: Asia/Tokyo}}`,
    input: 't\n2026-10-25 02:30 Europe/Berlin\n2026-10-25 20:00 Europe/Berlin\n',
    output: 't,later\n2026-10-25,2026-10-25T01:30:00Z\n2026-10-26,2026-10-25T19:00:00Z\n',
  },
  {
    name: 'beside an offset, which decides, in either order',
    template: `operations:
  - {set: {columns: {u: 'parse_date(t, "z, yyyy-MM-dd HH:mm X")'}}}
  - {parse_date: {columns: t, formats: ["z, yyyy-MM-dd HH:mm X"]}}`,
    input: 't\n"Europe/Berlin, 2026-10-25 02:30 +01:00"\n"Europe/Berlin, 2026-07-01 12:00 +01:00"\n',
    output: 't,u\n2026-10-25T01:30:00Z,2026-10-25T01:30:00Z\n2026-07-01T11:00:00Z,2026-07-01T11:00:00Z\n',
  },
  {
    name: 'in an expression',
    template: `operations: [{set: {columns: {u: 'parse_date(t, "yyyy-MM-dd HH:mm z")'}, on_error: blank}}]`,
    input: 't\n2026-10-25 02:30 Europe/Berlin\n2026-03-29 02:30 Europe/Berlin\n',
    output: 't,u\n2026-10-25 02:30 Europe/Berlin,2026-10-25T00:30:00Z\n2026-03-29 02:30 Europe/Berlin,\n',
  },
]);

golden('ordinal numbers of days', [
  {
    name: 'in English, with and without their ending',
    template: `operations: [{parse_date: {columns: d, formats: ["MMM do, yyyy"], on_error: blank}}, {format_date: {columns: d, format: "do MMMM yyyy"}}]`,
    input:
      'd\n"Dec. 31st, 2024"\n"Jan 1ST, 2024"\n"Feb. 2nd, 2024"\n"May 12, 2024"\n"Mar 23rd, 2024"\n"May 11th, 2024"\n"May 3 rd, 2024"\n"June 31st, 2024"\n',
    output:
      'd\n31st December 2024\n1st January 2024\n2nd February 2024\n12th May 2024\n23rd March 2024\n11th May 2024\n""\n""\n',
  },
  ...(
    [
      ['fr', '1er mars 2024', '1er mars 2024'],
      ['fr', '2e mars 2024', '2 mars 2024'],
      ['de', '31. Dezember 2024', '31. Dezember 2024'],
      ['es', '1º enero 2024', '1º enero 2024'],
      ['it', '1° gennaio 2024', '1º gennaio 2024'],
      ['nl', '31ste december 2024', '31e december 2024'],
      ['pt', '2 janeiro 2024', '2 janeiro 2024'],
    ] as const
  ).map(([locale, input, output]) => ({
    name: `${locale}: ${input}`,
    template: `operations: [{parse_date: {columns: d, formats: ["do MMMM yyyy"], locale: ${locale}}}, {format_date: {columns: d, format: "do MMMM yyyy", locale: ${locale}}}]`,
    input: `d\n${input}\n`,
    output: `d\n${output}\n`,
  })),
  {
    name: 'only after a day',
    template: 'operations: [{parse_date: {columns: d, formats: ["MMMo yyyy", "dd o"]}}]',
    problems: ['/operations/0/parse_date/formats/0 BAD_PATTERN', '/operations/0/parse_date/formats/1 BAD_PATTERN'],
  },
]);
