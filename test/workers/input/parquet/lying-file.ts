// A Parquet file of one column that may say of itself what it likes.
import { ThriftWriter } from '../../../../workers/output/parquet/thrift-writer.ts';

export interface Lies {
  /** Of the page, and of the column in the row group. */
  readonly values: number;
  readonly rows: number;
  /** What the page inflates to, as it says; and how long it stands there. */
  readonly bytes: number;
  readonly storedBytes: number;
  readonly codec: number;
  /** Physical type; 1 is INT32, 6 a byte array. */
  readonly physical: number;
  /** 0: nothing is null. */
  readonly repetition: number;
  /** 0 is plain, 5 delta. */
  readonly encoding: number;
}

/** @param body what stands behind the page's header */
export function lyingFile(body: Uint8Array, lies: Lies): Buffer {
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
      thrift.text(4, 'a');
    });
    thrift.long(3, lies.rows);
    thrift.list(4, 12, 1);
    thrift.body(() => writeGroup(thrift, lies, size));
  });
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([Buffer.from('PAR1'), header, body, footer, length, Buffer.from('PAR1')]);
}

function writeGroup(thrift: ThriftWriter, lies: Lies, size: number): void {
  thrift.list(1, 12, 1);
  thrift.body(() => {
    thrift.long(2, 4);
    thrift.struct(3, () => {
      thrift.integer(1, lies.physical);
      thrift.integer(4, lies.codec);
      thrift.long(5, lies.values);
      thrift.long(6, size);
      thrift.long(7, size);
      thrift.long(9, 4);
    });
  });
  thrift.long(2, size);
  thrift.long(3, lies.rows);
}

function written(write: (thrift: ThriftWriter) => void): Buffer {
  const bytes: number[] = [];
  const thrift = new ThriftWriter({
    appendByte: (byte) => bytes.push(byte),
    append: (more) => bytes.push(...more),
  });
  write(thrift);
  thrift.end();
  return Buffer.from(bytes);
}
