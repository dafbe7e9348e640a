// The minimum cost of any service: a socket server that reads each request to its end and responds. Prints its port.
import { type AddressInfo, createServer, type Socket } from 'node:net';

const ANSWER = 'HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}';

const server = createServer((socket) => {
  socket.setNoDelay(true);
  // A client that has finished or was killed resets its connection, which does not matter here.
  socket.on('error', () => socket.destroy());
  answerRequests(socket);
});

function answerRequests(socket: Socket): void {
  let head = '';
  let leftBytes = 0;
  socket.on('data', (bytes: Buffer) => {
    if (leftBytes === 0) {
      head += bytes.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const bodyBytes = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      leftBytes = bodyBytes - (head.length - end - 4);
      head = '';
    } else leftBytes -= bytes.length;
    if (leftBytes === 0) socket.write(ANSWER);
  });
}

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ event: 'listening', port })}\n`);
});
