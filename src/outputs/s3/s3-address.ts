// Where a bucket is and with which keys it is reached. Keys come from the environment alone: flags are seen by everybody on
// the machine.

export interface S3Address {
  /** Of the bucket, without a slash at its end: its host is `bucket.…` at Amazon, else its path begins with the bucket. */
  readonly url: string;
  /** Before all names: empty, or with a slash at its end. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of keys that end by themselves. */
  readonly sessionToken: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Nothing that would have to be encoded. */
const PREFIX = /^(?:[A-Za-z0-9_.-]+\/)*$/;
const REGION = /^[a-z0-9-]{1,40}$/;

/** @param text `s3://bucket/prefix`; null and a problem for the operator where it is none, or its keys are missing */
export function readS3Address(text: string, environment: Environment, problems: string[]): S3Address | null {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]*)\/?(.*)$/i.exec(text) ?? [];
  const prefix = path === '' || path.endsWith('/') ? path : `${path}/`;
  if (!BUCKET.test(bucket) || !PREFIX.test(prefix) || /(?:^|\/)\.{1,2}\//.test(prefix)) {
    problems.push('--outputs must be a folder or s3://BUCKET/PREFIX; a prefix has letters, digits, -, _ and . alone.');
    return null;
  }
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  if (!accessKeyId || !secretAccessKey) {
    problems.push('--outputs s3: needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.');
    return null;
  }
  const region = environment['AWS_REGION'] || 'us-east-1';
  if (!REGION.test(region)) problems.push('AWS_REGION must be the name of a region, such as eu-central-1.');
  const url = bucketUrl(
    bucket,
    region,
    environment['AWS_ENDPOINT_URL_S3'] || environment['AWS_ENDPOINT_URL'],
    problems,
  );
  return { url, prefix, region, accessKeyId, secretAccessKey, sessionToken: environment['AWS_SESSION_TOKEN'] || null };
}

function bucketUrl(bucket: string, region: string, endpoint: string | undefined, problems: string[]): string {
  if (endpoint === undefined) {
    // The certificate of Amazon's hosts holds for one name before theirs.
    const isHost = !bucket.includes('.');
    return isHost ? `https://${bucket}.s3.${region}.amazonaws.com` : `https://s3.${region}.amazonaws.com/${bucket}`;
  }
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`) {
    problems.push('AWS_ENDPOINT_URL_S3 must be an http or https origin without a path.');
  }
  return `${url?.origin ?? ''}/${bucket}`;
}
