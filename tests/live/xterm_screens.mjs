// Prints the screens that @xterm/headless shows: reads [{columns, rows, chunks: [base64]}] from standard input, writes
// one array of screens (one for each chunk) for each of them. The package's folder is the only argument.
import { createRequire } from "node:module";

const { Terminal } = createRequire(import.meta.url)(process.argv[2]);
let text = "";
for await (const part of process.stdin) text += part;

const results = [];
for (const { columns, rows, chunks } of JSON.parse(text)) {
  const terminal = new Terminal({ cols: columns, rows, scrollback: 2000, allowProposedApi: true });
  const screens = [];
  for (const chunk of chunks) {
    await new Promise((resolve) => terminal.write(Buffer.from(chunk, "base64"), resolve));
    const buffer = terminal.buffer.active;
    const shown = [];
    for (let row = 0; row < rows; row++) {
      const line = buffer.getLine(buffer.baseY + row);
      shown.push(line ? line.translateToString(true) : "");
    }
    screens.push(shown);
  }
  results.push(screens);
  terminal.dispose();
}
process.stdout.write(JSON.stringify(results));
