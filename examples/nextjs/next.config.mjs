export default {
  // The example is inside another package with a lock file of its own.
  turbopack: { root: import.meta.dirname },
}
