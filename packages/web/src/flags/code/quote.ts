/** String literals for snippets. Flag and variant keys can hold any printable character. */

/** Double quotes: Go, Java, C# and Swift escape like JSON. */
export const doubleQuoted = (text: string): string => JSON.stringify(text)

/** Kotlin and Dart replace `$name` inside strings. */
export const interpolated = (text: string): string => JSON.stringify(text).replaceAll('$', '\\$')

/** PHP and Ruby: only these two characters are special between single quotes. */
export const singleQuoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`

/** JavaScript; `<` is escaped because a `</script>` would end the script of a page. */
export const javascriptQuoted = (text: string): string =>
  singleQuoted(text).replaceAll('</', '<\\/').replaceAll('<!--', '<\\!--')

/** Python's rules for double quotes cover JSON's. */
export const pythonQuoted = doubleQuoted
