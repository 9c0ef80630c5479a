;; SHA-1 of many messages, four at a time: one in each 32-bit lane of a v128.
;;
;; A message is a prefix of less than 64 bytes, a tail that all messages share, zeros, and its length in bits. It has one
;; block or two. The host writes prefixes, their lengths, and the tail, once for each of the four byte offsets at which a
;; prefix can end within a word. $hash leaves the first words of four hashes, then their second words, then the next four.
(module
  (memory (export "memory") 1)

  ;; Addresses in bytes. The schedule has 80 vectors, from 0 on. Copying may run over the last message by 128 bytes.
  (global $messages i32 (i32.const 1280))
  (global $prefixes (export "prefixes") i32 (i32.const 17792))
  (global $lengths (export "lengths") i32 (i32.const 25984))
  (global $tails (export "tails") i32 (i32.const 26496))
  (global $results (export "results") i32 (i32.const 27008))
  ;; Messages per call.
  (global (export "capacity") i32 (i32.const 128))

  (func (export "hash") (param $count i32) (param $blocks i32) (param $tailLength i32)
    (call $join (local.get $count) (i32.shl (local.get $blocks) (i32.const 6)) (local.get $tailLength))
    (call $compress (i32.shr_u (i32.add (local.get $count) (i32.const 3)) (i32.const 2)) (local.get $blocks)))

  ;; Writes the messages one after another, $size bytes each.
  (func $join (param $count i32) (param $size i32) (param $tailLength i32)
    (local $prefix i32) (local $length i32) (local $lengthAt i32)
    (local $message i32) (local $end i32) (local $from i32) (local $to i32) (local $shared i32)
    (local.set $prefix (global.get $prefixes))
    (local.set $lengthAt (global.get $lengths))
    (local.set $message (global.get $messages))
    (loop $next
      (local.set $length (i32.load (local.get $lengthAt)))
      (local.set $end (i32.add (local.get $message) (local.get $size)))
      (v128.store (local.get $message) (v128.load (local.get $prefix)))
      (v128.store offset=16 (local.get $message) (v128.load offset=16 (local.get $prefix)))
      (v128.store offset=32 (local.get $message) (v128.load offset=32 (local.get $prefix)))
      (v128.store offset=48 (local.get $message) (v128.load offset=48 (local.get $prefix)))

      ;; The last bytes of the prefix share a word with the first bytes of the tail.
      (local.set $to (i32.add (local.get $message) (i32.and (local.get $length) (i32.const -4))))
      (local.set $from
        (i32.add (global.get $tails) (i32.shl (i32.and (local.get $length) (i32.const 3)) (i32.const 7))))
      (local.set $shared (i32.or (i32.load (local.get $to)) (i32.load (local.get $from))))
      (local.set $prefix (local.get $to))
      (loop $copy
        (v128.store (local.get $to) (v128.load (local.get $from)))
        (v128.store offset=16 (local.get $to) (v128.load offset=16 (local.get $from)))
        (v128.store offset=32 (local.get $to) (v128.load offset=32 (local.get $from)))
        (v128.store offset=48 (local.get $to) (v128.load offset=48 (local.get $from)))
        (local.set $from (i32.add (local.get $from) (i32.const 64)))
        (br_if $copy
          (i32.lt_u (local.tee $to (i32.add (local.get $to) (i32.const 64))) (local.get $end))))
      (i32.store (local.get $prefix) (local.get $shared))
      (i32.store (i32.sub (local.get $end) (i32.const 4))
        (i32.shl (i32.add (local.get $length) (local.get $tailLength)) (i32.const 3)))

      (local.set $lengthAt (i32.add (local.get $lengthAt) (i32.const 4)))
      (local.set $prefix
        (i32.add (global.get $prefixes)
          (i32.shl (i32.sub (local.get $lengthAt) (global.get $lengths)) (i32.const 4))))
      (local.set $message (local.get $end))
      (br_if $next (local.tee $count (i32.sub (local.get $count) (i32.const 1))))))

  ;; Hashes the messages in groups of four.
  (func $compress (param $groups i32) (param $blocks i32)
    (local $size i32) (local $group i32) (local $results i32) (local $left i32) (local $w i32)
    (local $lane0 i32) (local $lane1 i32) (local $lane2 i32) (local $lane3 i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) (local $e v128)
    (local $h0 v128) (local $h1 v128) (local $h2 v128) (local $h3 v128) (local $h4 v128)
    (local $k v128) (local $x v128) (local $r0 v128) (local $r1 v128) (local $r2 v128) (local $r3 v128)
    (local.set $size (i32.shl (local.get $blocks) (i32.const 6)))
    (local.set $group (global.get $messages))
    (local.set $results (global.get $results))
    (loop $group
      (local.set $h0 (i32x4.splat (i32.const 0x67452301)))
      (local.set $h1 (i32x4.splat (i32.const 0xefcdab89)))
      (local.set $h2 (i32x4.splat (i32.const 0x98badcfe)))
      (local.set $h3 (i32x4.splat (i32.const 0x10325476)))
      (local.set $h4 (i32x4.splat (i32.const 0xc3d2e1f0)))
      (local.set $lane0 (local.get $group))
      (local.set $lane1 (i32.add (local.get $lane0) (local.get $size)))
      (local.set $lane2 (i32.add (local.get $lane1) (local.get $size)))
      (local.set $lane3 (i32.add (local.get $lane2) (local.get $size)))
      (local.set $group (i32.add (local.get $lane3) (local.get $size)))
      (local.set $left (local.get $blocks))
      (loop $block
        ;; Transposes the block: four words of each message become four vectors of one word each.
        (local.set $w (i32.const 0))
        (loop $transpose
          (local.set $r0 (v128.load (local.get $lane0)))
          (local.set $r1 (v128.load (local.get $lane1)))
          (local.set $r2 (v128.load (local.get $lane2)))
          (local.set $r3 (v128.load (local.get $lane3)))
          (local.set $a (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $r0) (local.get $r1)))
          (local.set $b (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $r0) (local.get $r1)))
          (local.set $c (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $r2) (local.get $r3)))
          (local.set $d (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $r2) (local.get $r3)))
          (v128.store (local.get $w)
            (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $a) (local.get $c)))
          (v128.store offset=16 (local.get $w)
            (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $a) (local.get $c)))
          (v128.store offset=32 (local.get $w)
            (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $b) (local.get $d)))
          (v128.store offset=48 (local.get $w)
            (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $b) (local.get $d)))
          (local.set $lane0 (i32.add (local.get $lane0) (i32.const 16)))
          (local.set $lane1 (i32.add (local.get $lane1) (i32.const 16)))
          (local.set $lane2 (i32.add (local.get $lane2) (i32.const 16)))
          (local.set $lane3 (i32.add (local.get $lane3) (i32.const 16)))
          (br_if $transpose
            (i32.lt_u (local.tee $w (i32.add (local.get $w) (i32.const 64))) (i32.const 256))))
        (local.set $a (local.get $h0))
        (local.set $b (local.get $h1))
        (local.set $c (local.get $h2))
        (local.set $d (local.get $h3))
        (local.set $e (local.get $h4))
        (local.set $w (i32.const 0))

        ;; Rounds 0 to 19: choose. Five rounds at a time, so that no variable has to be moved; the schedule
        ;; grows 16 words ahead of them, which lets the processor overlap the two.
        (local.set $k (i32x4.splat (i32.const 0x5a827999)))
        (loop $rounds0
          (local.set $x
            (v128.xor
              (v128.xor (v128.load (local.get $w)) (v128.load offset=32 (local.get $w)))
              (v128.xor (v128.load offset=128 (local.get $w)) (v128.load offset=208 (local.get $w)))))
          (v128.store offset=256 (local.get $w)
            (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
          (local.set $x
            (v128.xor
              (v128.xor (v128.load offset=16 (local.get $w)) (v128.load offset=48 (local.get $w)))
              (v128.xor (v128.load offset=144 (local.get $w)) (v128.load offset=224 (local.get $w)))))
          (v128.store offset=272 (local.get $w)
            (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
          (local.set $x
            (v128.xor
              (v128.xor (v128.load offset=32 (local.get $w)) (v128.load offset=64 (local.get $w)))
              (v128.xor (v128.load offset=160 (local.get $w)) (v128.load offset=240 (local.get $w)))))
          (v128.store offset=288 (local.get $w)
            (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
          (local.set $x
            (v128.xor
              (v128.xor (v128.load offset=48 (local.get $w)) (v128.load offset=80 (local.get $w)))
              (v128.xor (v128.load offset=176 (local.get $w)) (v128.load offset=256 (local.get $w)))))
          (v128.store offset=304 (local.get $w)
            (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
          (local.set $x
            (v128.xor
              (v128.xor (v128.load offset=64 (local.get $w)) (v128.load offset=96 (local.get $w)))
              (v128.xor (v128.load offset=192 (local.get $w)) (v128.load offset=272 (local.get $w)))))
          (v128.store offset=320 (local.get $w)
            (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
          (local.set $e
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $e) (local.get $k)) (v128.load (local.get $w)))
                (v128.bitselect (local.get $c) (local.get $d) (local.get $b)))
              (v128.or (i32x4.shl (local.get $a) (i32.const 5)) (i32x4.shr_u (local.get $a) (i32.const 27)))))
          (local.set $b
            (v128.or (i32x4.shl (local.get $b) (i32.const 30)) (i32x4.shr_u (local.get $b) (i32.const 2))))
          (local.set $d
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $d) (local.get $k)) (v128.load offset=16 (local.get $w)))
                (v128.bitselect (local.get $b) (local.get $c) (local.get $a)))
              (v128.or (i32x4.shl (local.get $e) (i32.const 5)) (i32x4.shr_u (local.get $e) (i32.const 27)))))
          (local.set $a
            (v128.or (i32x4.shl (local.get $a) (i32.const 30)) (i32x4.shr_u (local.get $a) (i32.const 2))))
          (local.set $c
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $c) (local.get $k)) (v128.load offset=32 (local.get $w)))
                (v128.bitselect (local.get $a) (local.get $b) (local.get $e)))
              (v128.or (i32x4.shl (local.get $d) (i32.const 5)) (i32x4.shr_u (local.get $d) (i32.const 27)))))
          (local.set $e
            (v128.or (i32x4.shl (local.get $e) (i32.const 30)) (i32x4.shr_u (local.get $e) (i32.const 2))))
          (local.set $b
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $b) (local.get $k)) (v128.load offset=48 (local.get $w)))
                (v128.bitselect (local.get $e) (local.get $a) (local.get $d)))
              (v128.or (i32x4.shl (local.get $c) (i32.const 5)) (i32x4.shr_u (local.get $c) (i32.const 27)))))
          (local.set $d
            (v128.or (i32x4.shl (local.get $d) (i32.const 30)) (i32x4.shr_u (local.get $d) (i32.const 2))))
          (local.set $a
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $a) (local.get $k)) (v128.load offset=64 (local.get $w)))
                (v128.bitselect (local.get $d) (local.get $e) (local.get $c)))
              (v128.or (i32x4.shl (local.get $b) (i32.const 5)) (i32x4.shr_u (local.get $b) (i32.const 27)))))
          (local.set $c
            (v128.or (i32x4.shl (local.get $c) (i32.const 30)) (i32x4.shr_u (local.get $c) (i32.const 2))))
          (local.set $w (i32.add (local.get $w) (i32.const 80)))
          (br_if $rounds0 (i32.lt_u (local.get $w) (i32.const 320))))

        ;; Rounds 20 to 39: parity.
        (local.set $k (i32x4.splat (i32.const 0x6ed9eba1)))
        (loop $rounds1
          (local.set $x
            (v128.xor
              (v128.xor (v128.load (local.get $w)) (v128.load offset=32 (local.get $w)))
              (v128.xor (v128.load offset=128 (local.get $w)) (v128.load offset=208 (local.get $w)))))
          (v128.store offset=256 (local.get $w)
            (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
          (local.set $x
            (v128.xor
              (v128.xor (v128.load offset=16 (local.get $w)) (v128.load offset=48 (local.get $w)))
              (v128.xor (v128.load offset=144 (local.get $w)) (v128.load offset=224 (local.get $w)))))
          (v128.store offset=272 (local.get $w)
            (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
          (local.set $x
            (v128.xor
              (v128.xor (v128.load offset=32 (local.get $w)) (v128.load offset=64 (local.get $w)))
              (v128.xor (v128.load offset=160 (local.get $w)) (v128.load offset=240 (local.get $w)))))
          (v128.store offset=288 (local.get $w)
            (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
          (local.set $x
            (v128.xor
              (v128.xor (v128.load offset=48 (local.get $w)) (v128.load offset=80 (local.get $w)))
              (v128.xor (v128.load offset=176 (local.get $w)) (v128.load offset=256 (local.get $w)))))
          (v128.store offset=304 (local.get $w)
            (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
          (local.set $x
            (v128.xor
              (v128.xor (v128.load offset=64 (local.get $w)) (v128.load offset=96 (local.get $w)))
              (v128.xor (v128.load offset=192 (local.get $w)) (v128.load offset=272 (local.get $w)))))
          (v128.store offset=320 (local.get $w)
            (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
          (local.set $e
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $e) (local.get $k)) (v128.load (local.get $w)))
                (v128.xor (v128.xor (local.get $b) (local.get $c)) (local.get $d)))
              (v128.or (i32x4.shl (local.get $a) (i32.const 5)) (i32x4.shr_u (local.get $a) (i32.const 27)))))
          (local.set $b
            (v128.or (i32x4.shl (local.get $b) (i32.const 30)) (i32x4.shr_u (local.get $b) (i32.const 2))))
          (local.set $d
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $d) (local.get $k)) (v128.load offset=16 (local.get $w)))
                (v128.xor (v128.xor (local.get $a) (local.get $b)) (local.get $c)))
              (v128.or (i32x4.shl (local.get $e) (i32.const 5)) (i32x4.shr_u (local.get $e) (i32.const 27)))))
          (local.set $a
            (v128.or (i32x4.shl (local.get $a) (i32.const 30)) (i32x4.shr_u (local.get $a) (i32.const 2))))
          (local.set $c
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $c) (local.get $k)) (v128.load offset=32 (local.get $w)))
                (v128.xor (v128.xor (local.get $e) (local.get $a)) (local.get $b)))
              (v128.or (i32x4.shl (local.get $d) (i32.const 5)) (i32x4.shr_u (local.get $d) (i32.const 27)))))
          (local.set $e
            (v128.or (i32x4.shl (local.get $e) (i32.const 30)) (i32x4.shr_u (local.get $e) (i32.const 2))))
          (local.set $b
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $b) (local.get $k)) (v128.load offset=48 (local.get $w)))
                (v128.xor (v128.xor (local.get $d) (local.get $e)) (local.get $a)))
              (v128.or (i32x4.shl (local.get $c) (i32.const 5)) (i32x4.shr_u (local.get $c) (i32.const 27)))))
          (local.set $d
            (v128.or (i32x4.shl (local.get $d) (i32.const 30)) (i32x4.shr_u (local.get $d) (i32.const 2))))
          (local.set $a
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $a) (local.get $k)) (v128.load offset=64 (local.get $w)))
                (v128.xor (v128.xor (local.get $c) (local.get $d)) (local.get $e)))
              (v128.or (i32x4.shl (local.get $b) (i32.const 5)) (i32x4.shr_u (local.get $b) (i32.const 27)))))
          (local.set $c
            (v128.or (i32x4.shl (local.get $c) (i32.const 30)) (i32x4.shr_u (local.get $c) (i32.const 2))))
          (local.set $w (i32.add (local.get $w) (i32.const 80)))
          (br_if $rounds1 (i32.lt_u (local.get $w) (i32.const 640))))

        ;; Rounds 40 to 59: majority.
        (local.set $k (i32x4.splat (i32.const 0x8f1bbcdc)))
        (loop $rounds2
          (local.set $x
            (v128.xor
              (v128.xor (v128.load (local.get $w)) (v128.load offset=32 (local.get $w)))
              (v128.xor (v128.load offset=128 (local.get $w)) (v128.load offset=208 (local.get $w)))))
          (v128.store offset=256 (local.get $w)
            (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
          (local.set $x
            (v128.xor
              (v128.xor (v128.load offset=16 (local.get $w)) (v128.load offset=48 (local.get $w)))
              (v128.xor (v128.load offset=144 (local.get $w)) (v128.load offset=224 (local.get $w)))))
          (v128.store offset=272 (local.get $w)
            (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
          (local.set $x
            (v128.xor
              (v128.xor (v128.load offset=32 (local.get $w)) (v128.load offset=64 (local.get $w)))
              (v128.xor (v128.load offset=160 (local.get $w)) (v128.load offset=240 (local.get $w)))))
          (v128.store offset=288 (local.get $w)
            (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
          (local.set $x
            (v128.xor
              (v128.xor (v128.load offset=48 (local.get $w)) (v128.load offset=80 (local.get $w)))
              (v128.xor (v128.load offset=176 (local.get $w)) (v128.load offset=256 (local.get $w)))))
          (v128.store offset=304 (local.get $w)
            (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
          (local.set $x
            (v128.xor
              (v128.xor (v128.load offset=64 (local.get $w)) (v128.load offset=96 (local.get $w)))
              (v128.xor (v128.load offset=192 (local.get $w)) (v128.load offset=272 (local.get $w)))))
          (v128.store offset=320 (local.get $w)
            (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
          (local.set $e
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $e) (local.get $k)) (v128.load (local.get $w)))
                (v128.bitselect (local.get $d) (local.get $b) (v128.xor (local.get $b) (local.get $c))))
              (v128.or (i32x4.shl (local.get $a) (i32.const 5)) (i32x4.shr_u (local.get $a) (i32.const 27)))))
          (local.set $b
            (v128.or (i32x4.shl (local.get $b) (i32.const 30)) (i32x4.shr_u (local.get $b) (i32.const 2))))
          (local.set $d
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $d) (local.get $k)) (v128.load offset=16 (local.get $w)))
                (v128.bitselect (local.get $c) (local.get $a) (v128.xor (local.get $a) (local.get $b))))
              (v128.or (i32x4.shl (local.get $e) (i32.const 5)) (i32x4.shr_u (local.get $e) (i32.const 27)))))
          (local.set $a
            (v128.or (i32x4.shl (local.get $a) (i32.const 30)) (i32x4.shr_u (local.get $a) (i32.const 2))))
          (local.set $c
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $c) (local.get $k)) (v128.load offset=32 (local.get $w)))
                (v128.bitselect (local.get $b) (local.get $e) (v128.xor (local.get $e) (local.get $a))))
              (v128.or (i32x4.shl (local.get $d) (i32.const 5)) (i32x4.shr_u (local.get $d) (i32.const 27)))))
          (local.set $e
            (v128.or (i32x4.shl (local.get $e) (i32.const 30)) (i32x4.shr_u (local.get $e) (i32.const 2))))
          (local.set $b
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $b) (local.get $k)) (v128.load offset=48 (local.get $w)))
                (v128.bitselect (local.get $a) (local.get $d) (v128.xor (local.get $d) (local.get $e))))
              (v128.or (i32x4.shl (local.get $c) (i32.const 5)) (i32x4.shr_u (local.get $c) (i32.const 27)))))
          (local.set $d
            (v128.or (i32x4.shl (local.get $d) (i32.const 30)) (i32x4.shr_u (local.get $d) (i32.const 2))))
          (local.set $a
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $a) (local.get $k)) (v128.load offset=64 (local.get $w)))
                (v128.bitselect (local.get $e) (local.get $c) (v128.xor (local.get $c) (local.get $d))))
              (v128.or (i32x4.shl (local.get $b) (i32.const 5)) (i32x4.shr_u (local.get $b) (i32.const 27)))))
          (local.set $c
            (v128.or (i32x4.shl (local.get $c) (i32.const 30)) (i32x4.shr_u (local.get $c) (i32.const 2))))
          (local.set $w (i32.add (local.get $w) (i32.const 80)))
          (br_if $rounds2 (i32.lt_u (local.get $w) (i32.const 960))))

        ;; Rounds 60 to 79: parity.
        ;; Words 76 to 79 complete the schedule.
        (local.set $x
          (v128.xor
            (v128.xor (v128.load (local.get $w)) (v128.load offset=32 (local.get $w)))
            (v128.xor (v128.load offset=128 (local.get $w)) (v128.load offset=208 (local.get $w)))))
        (v128.store offset=256 (local.get $w)
          (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
        (local.set $x
          (v128.xor
            (v128.xor (v128.load offset=16 (local.get $w)) (v128.load offset=48 (local.get $w)))
            (v128.xor (v128.load offset=144 (local.get $w)) (v128.load offset=224 (local.get $w)))))
        (v128.store offset=272 (local.get $w)
          (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
        (local.set $x
          (v128.xor
            (v128.xor (v128.load offset=32 (local.get $w)) (v128.load offset=64 (local.get $w)))
            (v128.xor (v128.load offset=160 (local.get $w)) (v128.load offset=240 (local.get $w)))))
        (v128.store offset=288 (local.get $w)
          (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
        (local.set $x
          (v128.xor
            (v128.xor (v128.load offset=48 (local.get $w)) (v128.load offset=80 (local.get $w)))
            (v128.xor (v128.load offset=176 (local.get $w)) (v128.load offset=256 (local.get $w)))))
        (v128.store offset=304 (local.get $w)
          (v128.or (i32x4.shl (local.get $x) (i32.const 1)) (i32x4.shr_u (local.get $x) (i32.const 31))))
        (local.set $k (i32x4.splat (i32.const 0xca62c1d6)))
        (loop $rounds3
          (local.set $e
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $e) (local.get $k)) (v128.load (local.get $w)))
                (v128.xor (v128.xor (local.get $b) (local.get $c)) (local.get $d)))
              (v128.or (i32x4.shl (local.get $a) (i32.const 5)) (i32x4.shr_u (local.get $a) (i32.const 27)))))
          (local.set $b
            (v128.or (i32x4.shl (local.get $b) (i32.const 30)) (i32x4.shr_u (local.get $b) (i32.const 2))))
          (local.set $d
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $d) (local.get $k)) (v128.load offset=16 (local.get $w)))
                (v128.xor (v128.xor (local.get $a) (local.get $b)) (local.get $c)))
              (v128.or (i32x4.shl (local.get $e) (i32.const 5)) (i32x4.shr_u (local.get $e) (i32.const 27)))))
          (local.set $a
            (v128.or (i32x4.shl (local.get $a) (i32.const 30)) (i32x4.shr_u (local.get $a) (i32.const 2))))
          (local.set $c
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $c) (local.get $k)) (v128.load offset=32 (local.get $w)))
                (v128.xor (v128.xor (local.get $e) (local.get $a)) (local.get $b)))
              (v128.or (i32x4.shl (local.get $d) (i32.const 5)) (i32x4.shr_u (local.get $d) (i32.const 27)))))
          (local.set $e
            (v128.or (i32x4.shl (local.get $e) (i32.const 30)) (i32x4.shr_u (local.get $e) (i32.const 2))))
          (local.set $b
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $b) (local.get $k)) (v128.load offset=48 (local.get $w)))
                (v128.xor (v128.xor (local.get $d) (local.get $e)) (local.get $a)))
              (v128.or (i32x4.shl (local.get $c) (i32.const 5)) (i32x4.shr_u (local.get $c) (i32.const 27)))))
          (local.set $d
            (v128.or (i32x4.shl (local.get $d) (i32.const 30)) (i32x4.shr_u (local.get $d) (i32.const 2))))
          (local.set $a
            (i32x4.add
              (i32x4.add
                (i32x4.add (i32x4.add (local.get $a) (local.get $k)) (v128.load offset=64 (local.get $w)))
                (v128.xor (v128.xor (local.get $c) (local.get $d)) (local.get $e)))
              (v128.or (i32x4.shl (local.get $b) (i32.const 5)) (i32x4.shr_u (local.get $b) (i32.const 27)))))
          (local.set $c
            (v128.or (i32x4.shl (local.get $c) (i32.const 30)) (i32x4.shr_u (local.get $c) (i32.const 2))))
          (local.set $w (i32.add (local.get $w) (i32.const 80)))
          (br_if $rounds3 (i32.lt_u (local.get $w) (i32.const 1280))))

        (local.set $h0 (i32x4.add (local.get $h0) (local.get $a)))
        (local.set $h1 (i32x4.add (local.get $h1) (local.get $b)))
        (local.set $h2 (i32x4.add (local.get $h2) (local.get $c)))
        (local.set $h3 (i32x4.add (local.get $h3) (local.get $d)))
        (local.set $h4 (i32x4.add (local.get $h4) (local.get $e)))
        (br_if $block (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
      (v128.store (local.get $results) (local.get $h0))
      (v128.store offset=16 (local.get $results) (local.get $h1))
      (local.set $results (i32.add (local.get $results) (i32.const 32)))
      (br_if $group (local.tee $groups (i32.sub (local.get $groups) (i32.const 1)))))))
