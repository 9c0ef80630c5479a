/** Headers are ASCII, so other characters are percent-encoded; a text that is not stays as it is. */
export function headerText(header: string | string[]): string {
  const text = String(header)
  try {
    return decodeURIComponent(text).trim()
  } catch {
    return text.trim()
  }
}
