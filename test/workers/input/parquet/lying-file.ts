// A Parquet file with one column and arbitrary, also false, metadata.
import { ThriftWriter } from '../../../../workers/output/parquet/thrift-writer.ts';

export interface Lies {
  /** Number of values in the page, and in the column of the row group. */
  readonly values: number;
  /** Number of values in the column of the row group, if it differs from `values`. */
  readonly columnValues?: number;
  readonly rows: number;
  /** Declared sizes of the page: inflated and stored. */
  readonly bytes: number;
  readonly storedBytes: number;
  readonly codec: number;
  /** Physical type; 1 is INT32, 6 is a byte array. */
  readonly physical: number;
  /** 0: no value is null. */
  readonly repetition: number;
  /** 0 is plain, 5 is delta. */
  readonly encoding: number;
}

/** Metadata besides the columns of the row groups. */
export interface Extras {
  /** Name of the column. */
  readonly name?: string;
  /** Writes fields after those of a row group. */
  readonly group?: (thrift: ThriftWriter) => void;
  /** Writes fields after the row groups. */
  readonly file?: (thrift: ThriftWriter) => void;
}

/** Row groups without rows before and after the one with rows. */
export interface EmptyGroups {
  readonly before: number;
  readonly after: number;
  /** Offset of the groups' pages, which do not exist. */
  readonly offset: number;
}

const NO_EMPTY_GROUPS: EmptyGroups = { before: 0, after: 0, offset: 0 };

/** @param body bytes after the page's header */
export function lyingFile(
  body: Uint8Array,
  lies: Lies,
  empty: EmptyGroups = NO_EMPTY_GROUPS,
  extras: Extras = {},
): Buffer {
  const header = written((thrift) => {
    thrift.integer(1, 0);
    thrift.integer(2, lies.bytes);
    thrift.integer(3, lies.storedBytes);
    thrift.struct(5, () => {
      thrift.integer(1, lies.values);
      thrift.integer(2, lies.encoding);
      thrift.integer(3, 3);
      thrift.integer(4, 3);
    });
  });
  const size = header.length + body.length;
  const footer = written((thrift) => {
    thrift.integer(1, 1);
    thrift.list(2, 12, 2);
    thrift.body(() => {
      thrift.text(4, 'root');
      thrift.integer(5, 1);
    });
    thrift.body(() => {
      thrift.integer(1, lies.physical);
      thrift.integer(3, lies.repetition);
      thrift.text(4, extras.name ?? 'a');
    });
    thrift.long(3, lies.rows);
    thrift.list(4, 12, empty.before + 1 + empty.after);
    const none = { ...lies, rows: 0, values: 0 };
    for (let count = 0; count < empty.before; count++) thrift.body(() => writeGroup(thrift, none, 15, empty.offset));
    thrift.body(() => {
      writeGroup(thrift, lies, size, 4);
      extras.group?.(thrift);
    });
    for (let count = 0; count < empty.after; count++) thrift.body(() => writeGroup(thrift, none, 15, empty.offset));
    extras.file?.(thrift);
  });
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([Buffer.from('PAR1'), header, body, footer, length, Buffer.from('PAR1')]);
}

function writeGroup(thrift: ThriftWriter, lies: Lies, size: number, offset: number): void {
  thrift.list(1, 12, 1);
  thrift.body(() => {
    thrift.long(2, 4);
    thrift.struct(3, () => {
      thrift.integer(1, lies.physical);
      thrift.integer(4, lies.codec);
      thrift.long(5, lies.columnValues ?? lies.values);
      thrift.long(6, size);
      thrift.long(7, size);
      thrift.long(9, offset);
    });
  });
  thrift.long(2, size);
  thrift.long(3, lies.rows);
}

function written(write: (thrift: ThriftWriter) => void): Buffer {
  const parts: Uint8Array[] = [];
  let bytes: number[] = [];
  const thrift = new ThriftWriter({
    appendByte: (byte) => bytes.push(byte),
    append: (more) => {
      parts.push(Buffer.from(bytes), more);
      bytes = [];
    },
  });
  write(thrift);
  thrift.end();
  return Buffer.concat([...parts, Buffer.from(bytes)]);
}
