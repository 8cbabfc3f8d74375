// Plays a film with the heart of asciinema's own player and prints what it understood: node player.mjs <package> <film>
import { readFileSync, readdirSync } from "node:fs";

const [where, film] = process.argv.slice(2);
const heart = readdirSync(`${where}/dist`).find((name) => /^core-.*\.js$/.test(name));
const { C: Core } = await import(`${where}/dist/${heart}`);
const nothing = () => {};
const logger = { log: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };
const player = new Core({ data: readFileSync(film, "utf8") }, { logger, speed: 1000, preload: true });
const seen = { output: "", markers: [], size: null, duration: null, error: null };
player.addEventListener("output", (texts) => (seen.output += [].concat(texts).join("")));
player.addEventListener("marker", (marker) => seen.markers.push(marker.label));
player.addEventListener("reset", (event) => (seen.size = event.size));
player.addEventListener("metadata", (event) => (seen.duration = event.duration));
player.addEventListener("error", (error) => (seen.error = String(error)));
const ended = new Promise((resolve) => ["ended", "error"].forEach((name) => player.addEventListener(name, resolve)));
player.terminalReady();
await player.play();
await ended;
console.log(JSON.stringify(seen));
process.exit(0);
