#!/usr/bin/env node
// `npm start` serves; `npm run halyard -- <command>` and `npx . <command>` run any command. They install and build first when needed.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureBuilt, ensureInstalled, root, say } from './prepare.mjs'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  say(`halyard: Node 20.19 or newer is required; this is ${process.version}.`)
  process.exit(78)
}

await ensureInstalled('run')
ensureBuilt()
await import(pathToFileURL(join(root, 'packages', 'server', 'dist', 'halyard.js')).href)
