// Preloaded into the server: on SIGUSR2 it collects garbage and prints memory and handle counts.
const v8 = require('node:v8')
const vm = require('node:vm')

v8.setFlagsFromString('--expose-gc')
const collectGarbage = vm.runInNewContext('gc')

let serial = 0

process.on('SIGUSR2', () => {
  collectGarbage()
  const { heapUsed, rss } = process.memoryUsage()
  const handles = process.getActiveResourcesInfo().length
  process.stdout.write(
    `${JSON.stringify({ figures: { heapBytes: heapUsed, residentBytes: rss, handles }, serial: ++serial })}\n`,
  )
})
