// Plays scenarios of the conformance suite one after another: node player.mjs SUITE SOCKET
//
// Loading what the suite depends on takes most of a scenario's time, so that is done once. The suite itself is
// a program that plays one scenario and exits; each scenario gets a fresh copy of its module. A request is a
// connection to SOCKET, with a line of JSON: the arguments and variables of the program. It is answered with its
// exit code and what it wrote. The end of stdin ends the process.
import { renameSync } from "node:fs";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [, , suite, socket] = process.argv;
const environment = { ...process.env };
const exit = process.exit;
let played = 0;

class Left extends Error {}

process.on("unhandledRejection", (problem) => {
  if (!(problem instanceof Left)) throw problem;
});

function play({ arguments: given, environment: more }) {
  return new Promise((resolve, reject) => {
    const wrote = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) {
      process[name].write = (text) => {
        wrote[name] += text;
        return true;
      };
    }
    process.exit = (code) => {
      resolve({ code: code ?? 0, out: wrote.stdout, err: wrote.stderr });
      throw new Left();
    };
    process.argv = [process.execPath, suite, ...given];
    process.env = { ...environment, ...more };
    played += 1;
    import(`${pathToFileURL(suite).href}?${played}`).catch(reject);
  });
}

const server = createServer((connection) => {
  createInterface({ input: connection }).once("line", async (line) => {
    const done = await play(JSON.parse(line)).catch((problem) => ({ code: 1, out: "", err: String(problem.stack) }));
    connection.end(JSON.stringify(done));
  });
});
// The name appears once connections are accepted.
server.listen(`${socket}.new`, () => renameSync(`${socket}.new`, socket));
process.stdin.resume().once("end", () => exit(0));
