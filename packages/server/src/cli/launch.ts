#!/usr/bin/env node
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

const configurationError = 78

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`halyard: Node 20.19 or newer is required; this is ${process.version}.`)
  process.exit(configurationError)
}

// Otherwise V8 allocates what the start creates and keeps, closures and arrays of requests among them, in the old generation from then
// on. There it keeps finished requests alive through many collections: up to a quarter of the CPU time of an evaluation.
setFlagsFromString('--no-allocation-site-pretenuring')

// Node 22.1 and newer. The cache is beside the program, not in the shared temporary folder, where another user could plant code.
const { enableCompileCache } = module as { enableCompileCache?: (folder?: string) => unknown }
enableCompileCache?.(process.env.NODE_COMPILE_CACHE ?? fileURLToPath(new URL('./.compile-cache', import.meta.url)))

// Imported last: an older Node may not even parse the program.
await import(new URL('./program.js', import.meta.url).href)
