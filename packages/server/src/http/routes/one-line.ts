/** Line breaks and other control characters, and those that reverse the direction of text. */
const breaking = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** Whether text can be shown inside a sentence, a header or a log line without becoming something else. */
export const isOneLine = (text: string): boolean => text.search(breaking) === -1

export const oneLine = (text: string): string => text.replace(breaking, ' ').trim()
