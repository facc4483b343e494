import redis.clients.jedis.JedisPooled;

public final class Jedis {
    public static void main(String[] words) throws InterruptedException {
        try (JedisPooled client = new JedisPooled("127.0.0.1", Integer.parseInt(words[0]))) {
            TakeIds.run(() -> client.incr(words[1]), Integer.parseInt(words[2]));
        }
    }
}
